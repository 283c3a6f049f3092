// Isend, Irecv, Wait and Barrier on a few ranks.
#include "support/engines.hpp"
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

using namespace contend;
using test::Program;

namespace {

/// The point with another progress engine.
PointConfig with_progress(const std::string& engine, bool coalesce = true) {
  PointConfig point = test::small_point();
  point.library.progress.engine = engine;
  point.run.coalesce_idle_polls = coalesce;
  return point;
}

} // namespace

TEST_CASE("blocking send and receive", "[mpi][calls]") {
  for (const std::string& engine : test::engines_that_act_at_once()) {
    CAPTURE(engine);
    Program program(2, with_progress(engine));
    const int comm = program.communicator;
    TimePoint sent;
    program.thread(0, [&](SimThread& self, Process& mpi) {
      self.spend(10_us, Category::software);
      mpi.send(self, comm, 1, 7, 100);
      sent = self.now();
      mpi.recv(self, comm, 1, 8, 100);
    });
    program.thread(1, [&](SimThread& self, Process& mpi) {
      mpi.recv(self, comm, 0, 7, 100);
      CHECK(self.now() > TimePoint::at(10_us + test::small_point().route.latency));
      mpi.send(self, comm, 0, 8, 100);
    });
    program.run();
    CHECK(sent < TimePoint::at(11_us)); // a send that fits the queue is complete when it is out
    for (const int rank : {0, 1}) {
      CHECK(program.counters(rank).sent == 1);
      CHECK(program.counters(rank).received == 1);
      CHECK(program.counters(rank).posted == 1);
    }
  }
}

TEST_CASE("lines under a matching lock move with it", "[mpi][calls]") {
  const auto posting = [](int state_lines) {
    PointConfig point = test::small_point();
    point.machine.noise = Duration{};
    point.machine.matching.state_lines = state_lines;
    Program program(1, point);
    std::vector<Duration> took;
    const auto post_at = [&](SimThread& self, Process& mpi, Duration begin) {
      self.spend(begin - (self.now() - TimePoint{}), Category::software);
      const TimePoint called = self.now();
      mpi.irecv(self, program.communicator, 0, 0, 0);
      self.settle();
      took.push_back(self.now() - called);
    };
    program.thread(0, [&](SimThread& self, Process& mpi) {
      post_at(self, mpi, 10_us);
      post_at(self, mpi, 20_us);
    });
    program.thread(0, [&](SimThread& self, Process& mpi) { post_at(self, mpi, 30_us); });
    program.run();
    return took;
  };
  const CacheParameters& cache = test::small_point().machine.cache;
  const std::vector<Duration> single = posting(1);
  const std::vector<Duration> several = posting(4);
  REQUIRE(single.size() == 3);
  REQUIRE(several.size() == 3);
  CHECK(several[0] - single[0] == 3 * (cache.l3_hit + cache.hit));
  CHECK(several[1] - single[1] == 3 * cache.hit);
  CHECK(several[2] - single[2] == 3 * (cache.transfer_socket + cache.hit));
}

TEST_CASE("a library with longer code takes longer by what its code costs", "[mpi][calls]") {
  const auto time_of_a_message = [](double send, double receive) {
    PointConfig point = test::small_point();
    point.machine.noise = Duration{};
    point.library.code.send = send;
    point.library.code.receive = receive;
    Program program(2, point);
    TimePoint sent;
    TimePoint received;
    program.thread(0, [&](SimThread& self, Process& mpi) {
      self.spend(10_us, Category::software); // the receive is posted first
      mpi.send(self, program.communicator, 1, 0, 0);
      sent = self.now();
    });
    program.thread(1, [&](SimThread& self, Process& mpi) {
      mpi.recv(self, program.communicator, 0, 0, 0);
      received = self.now();
    });
    program.run();
    return std::pair{sent, received};
  };
  const SoftwareParameters& prices = test::small_point().machine.software;
  const auto [sent, received] = time_of_a_message(1.0, 1.0);
  const auto [sent_slowly, received_later] = time_of_a_message(3.0, 1.0);
  CHECK(sent_slowly - sent == 2 * prices.send_call);
  CHECK(received_later - received >= prices.send_call);
  const auto [sent_the_same, received_slowly] = time_of_a_message(1.0, 3.0);
  CHECK(sent_the_same == sent);
  CHECK(received_slowly - received >= prices.deliver + prices.complete); // give or take where its polls fall
}

TEST_CASE("a send that went out at once needs no request", "[mpi][calls]") {
  Program program(2);
  program.thread(0, [&](SimThread& self, Process& mpi) {
    Request* const request = mpi.isend(self, program.communicator, 1, 0, 0);
    CHECK(request == nullptr);
    mpi.wait(self, request);
    const std::array<Request*, 2> none{nullptr, nullptr};
    mpi.waitall(self, none);
    mpi.waitall(self, {});
  });
  program.thread(1, [&](SimThread& self, Process& mpi) { mpi.recv(self, program.communicator, 0, 0, 0); });
  program.run();
}

TEST_CASE("a send that finds the queue full is complete after its wait", "[mpi][calls]") {
  for (const std::string& engine : test::engines_that_act_at_once()) {
    CAPTURE(engine);
    PointConfig point = with_progress(engine);
    point.machine.nic.send_queue_depth = 2;
    Program program(2, point);
    program.thread(0, [&](SimThread& self, Process& mpi) {
      std::vector<Request*> requests;
      for (int tag = 0; tag < 10; ++tag) {
        requests.push_back(mpi.isend(self, program.communicator, 1, tag, 0));
      }
      CHECK(std::count(requests.begin(), requests.end(), nullptr) >= 2);
      CHECK(std::any_of(requests.begin(), requests.end(),
                        [](const Request* request) { return request != nullptr && !request->complete; }));
      mpi.waitall(self, requests);
      CHECK(std::all_of(requests.begin(), requests.end(),
                        [](const Request* request) { return request == nullptr || request->complete; }));
    });
    program.thread(1, [&](SimThread& self, Process& mpi) {
      for (int tag = 9; tag >= 0; --tag) {
        mpi.recv(self, program.communicator, 0, tag, 0);
      }
    });
    program.run();
    CHECK(program.counters(0).delayed_sends > 0);
    CHECK(program.counters(1).unexpected_in_queue == 0);
    CHECK(program.counters(1).oos_in_queue == 0);
  }
}

TEST_CASE("waitall returns when the last of its requests is complete", "[mpi][calls]") {
  for (const std::string& engine : progress_registry().names()) {
    CAPTURE(engine);
    Program program(2, with_progress(engine));
    const int comm = program.communicator;
    TimePoint last_send;
    program.thread(0, [&](SimThread& self, Process& mpi) {
      for (int tag = 0; tag < 5; ++tag) {
        self.spend(20_us, Category::software);
        last_send = self.now();
        mpi.send(self, comm, 1, tag, 0);
      }
    });
    program.thread(1, [&](SimThread& self, Process& mpi) {
      std::vector<Request*> requests;
      for (int tag = 4; tag >= 0; --tag) {
        requests.push_back(mpi.irecv(self, comm, 0, tag, 0));
      }
      requests.push_back(nullptr);
      mpi.waitall(self, requests);
      CHECK(self.now() > last_send + test::small_point().route.latency);
      for (int tag = 0; tag < 5; ++tag) {
        CHECK(requests[static_cast<std::size_t>(4 - tag)]->received_tag == tag);
      }
    });
    program.run();
  }
}

TEST_CASE("many threads of a process wait at the same time", "[mpi][calls]") {
  for (const std::string& engine : progress_registry().names()) {
    for (const bool coalesce : {true, false}) {
      CAPTURE(engine, coalesce);
      Program program(2, with_progress(engine, coalesce));
      const int comm = program.communicator;
      constexpr int threads = 6;
      std::array<TimePoint, threads> done;
      for (int i = 0; i < threads; ++i) {
        program.thread(1, [&, i](SimThread& self, Process& mpi) {
          mpi.recv(self, comm, 0, i, 0);
          done[static_cast<std::size_t>(i)] = self.now();
        });
      }
      program.thread(0, [&](SimThread& self, Process& mpi) {
        for (const int tag : {3, 0, 5, 1, 4, 2}) {
          self.spend(50_us, Category::software);
          mpi.send(self, comm, 1, tag, 0);
        }
      });
      program.run();
      // Each thread goes on when its own message has come, not when all have.
      const std::array<int, threads> order{3, 0, 5, 1, 4, 2};
      for (std::size_t k = 0; k < order.size(); ++k) {
        const TimePoint sent = TimePoint::at(50_us * static_cast<std::int64_t>(k + 1));
        CHECK(done[static_cast<std::size_t>(order[k])] > sent);
        // Threads that wait for the lock of an instance may be passed over for a while.
        CHECK(done[static_cast<std::size_t>(order[k])] <
              sent + (engine == "per-target" || engine == "every-nth" || engine == "serial-blocking" ? 100_us : 50_us));
      }
    }
  }
}

TEST_CASE("requests are used again", "[mpi][calls]") {
  Program program(2);
  const int comm = program.communicator;
  constexpr int rounds = 200;
  constexpr int window = 8;
  std::set<const Request*> seen;
  program.thread(0, [&](SimThread& self, Process& mpi) {
    for (int i = 0; i < rounds * window; ++i) {
      mpi.send(self, comm, 1, i % window, 0);
      if (i % window == window - 1) {
        mpi.recv(self, comm, 1, 0, 0);
      }
    }
  });
  program.thread(1, [&](SimThread& self, Process& mpi) {
    for (int round = 0; round < rounds; ++round) {
      std::vector<Request*> requests;
      for (int tag = 0; tag < window; ++tag) {
        Request* const request = mpi.irecv(self, comm, 0, tag, 0);
        CHECK(std::find(requests.begin(), requests.end(), request) == requests.end());
        requests.push_back(request);
        seen.insert(request);
      }
      mpi.waitall(self, requests);
      mpi.send(self, comm, 0, 0, 0);
    }
  });
  program.run();
  CHECK(seen.size() <= window + 1);
}

TEST_CASE("a receive without a message is a deadlock, and the report says who polls", "[mpi][calls]") {
  Program program(2);
  program.thread(0, [&](SimThread& self, Process& mpi) { mpi.recv(self, program.communicator, 1, 0, 0); });
  CHECK_THROWS_AS(program.run(), Deadlock);
  CHECK_THAT(program.engine.thread_report(), Catch::Contains("rank 0 polls in vain"));
}

TEST_CASE("polls that are not skipped never end by themselves", "[mpi][calls]") {
  for (const std::string& engine : progress_registry().names()) {
    CAPTURE(engine);
    Program program(2, with_progress(engine, false));
    program.engine.set_step_limit(100'000);
    program.thread(0, [&](SimThread& self, Process& mpi) { mpi.recv(self, program.communicator, 1, 0, 0); });
    CHECK_THROWS_AS(program.run(), StepLimit);
  }
}
