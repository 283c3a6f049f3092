// MPI_Waitany, MPI_Waitsome, the test calls, persistent requests, and how threads learn of completions.
#include "simulation/simulation.hpp"
#include "support/engines.hpp"
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace contend;
using test::Program;

namespace {

PointConfig waits_with(const std::string& engine) {
  PointConfig point = test::small_point();
  point.library.progress.engine = engine;
  test::add_jitter(point); // threads that poll in exact step can keep one of them from a lock for ever
  return point;
}

/// Sends tags 0 .. count - 1, `gap` apart.
Program::Body sender(int communicator, int count, Duration gap) {
  return [=](SimThread& self, Process& mpi) {
    for (int tag = 0; tag < count; ++tag) {
      self.spend(gap, Category::software);
      mpi.send(self, communicator, 1, tag, 0);
    }
  };
}

std::vector<Request*> receives(SimThread& self, Process& mpi, int communicator, int count) {
  std::vector<Request*> requests;
  for (int tag = 0; tag < count; ++tag) {
    requests.push_back(mpi.irecv(self, communicator, 0, tag, 0));
  }
  return requests;
}

/// Time of one call over n receives of which none will be complete.
Duration test_of_nothing(int n, bool with_sync) {
  Program program(2);
  Duration time;
  program.thread(1, [&](SimThread& self, Process& mpi) {
    std::vector<Request*> requests = receives(self, mpi, program.communicator, n);
    UserSync& sync = mpi.sync_init(self);
    for (std::size_t i = 0; with_sync && i < requests.size(); ++i) {
      mpi.sync_attach(self, sync, *requests[i], i);
    }
    for (int repetition = 0; repetition < 2; ++repetition) { // the second has its lines at hand
      const TimePoint begin = self.now();
      if (with_sync) {
        CHECK_FALSE(mpi.sync_query(self, sync).has_value());
      } else {
        CHECK(mpi.testsome(self, requests).empty());
      }
      time = self.now() - begin;
    }
  });
  program.run();
  return time;
}

} // namespace

TEST_CASE("waitany returns one by one what is complete", "[mpi][waiting]") {
  for (const std::string& engine : progress_registry().names()) {
    CAPTURE(engine);
    if (progress_registry().at(engine).traits().own_thread) {
      continue; // has no thread here
    }
    Program program(2, waits_with(engine));
    program.thread(0, sender(program.communicator, 6, 20_us));
    program.thread(1, [&](SimThread& self, Process& mpi) {
      std::vector<Request*> requests = receives(self, mpi, program.communicator, 6);
      for (int expected = 0; expected < 6; ++expected) {
        CHECK(mpi.waitany(self, requests) == expected);
        CHECK(self.now() > TimePoint::at(20_us * (expected + 1)));
        CHECK(requests[static_cast<std::size_t>(expected)] == nullptr);
      }
      CHECK(mpi.waitany(self, requests) == -1);
      CHECK(mpi.waitsome(self, requests).empty());
      CHECK(mpi.testany(self, requests) == -1);
      CHECK(mpi.testall(self, requests));
    });
    program.run();
  }
}

TEST_CASE("waitsome and testsome return everything that is complete", "[mpi][waiting]") {
  Program program(2);
  program.thread(0, sender(program.communicator, 9, 1_us));
  program.thread(1, [&](SimThread& self, Process& mpi) {
    std::vector<Request*> requests = receives(self, mpi, program.communicator, 9);
    std::vector<int> seen;
    self.spend(200_us, Category::software);
    CHECK(mpi.testsome(self, requests).empty()); // nothing is complete before there was progress
    for (std::vector<int> some = mpi.waitsome(self, requests); !some.empty(); some = mpi.waitsome(self, requests)) {
      CHECK(std::is_sorted(some.begin(), some.end()));
      seen.insert(seen.end(), some.begin(), some.end());
    }
    std::sort(seen.begin(), seen.end());
    CHECK(seen == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8});
  });
  program.run();
}

TEST_CASE("test makes progress by itself", "[mpi][waiting]") {
  for (const std::string& engine : test::engines_that_act_at_once()) {
    CAPTURE(engine);
    Program program(2, waits_with(engine));
    program.thread(0, sender(program.communicator, 4, 10_us));
    program.thread(1, [&](SimThread& self, Process& mpi) {
      std::vector<Request*> requests = receives(self, mpi, program.communicator, 4);
      while (!mpi.test(self, &requests[2])) {
      }
      CHECK(requests[2] == nullptr);
      CHECK(self.now() > TimePoint::at(30_us));
      int index = mpi.testany(self, requests);
      while (index < 0) {
        index = mpi.testany(self, requests);
      }
      CHECK(index == 0);
      CHECK_FALSE(mpi.testall(self, requests)); // the last message takes longer
      CHECK(requests[1] != nullptr);            // and testall frees all or none
      while (!mpi.testall(self, requests)) {
      }
      CHECK(std::all_of(requests.begin(), requests.end(), [](const Request* r) { return r == nullptr; }));
    });
    program.run();
  }
}

TEST_CASE("a look at n requests costs n times the price of one, a query always the same", "[mpi][waiting]") {
  const Duration check = test::small_point().machine.waiting.check;
  const Duration one = test_of_nothing(1, false);
  for (const int n : {2, 17, 400, 2000}) { // 2048 requests of 128 B fill the cache
    CAPTURE(n);
    CHECK(test_of_nothing(n, false) == one + check * (n - 1));
    CHECK(test_of_nothing(n, true) == test_of_nothing(1, true));
  }
  CHECK(test_of_nothing(4096, false) > one + check * 4095); // half of them come from the shared cache
}

TEST_CASE("waitsome attaches and detaches every request in every call, waitall attaches each once", "[mpi][waiting]") {
  // One message arrives long after the call: its time of arrival hides the attaching, not the detaching.
  const auto time_after_arrival = [](int n) {
    Program program(2);
    Duration time;
    TimePoint sent;
    program.thread(0, [&](SimThread& self, Process& mpi) {
      self.spend(500_us, Category::software);
      sent = self.now();
      mpi.send(self, program.communicator, 1, 0, 0);
    });
    program.thread(1, [&](SimThread& self, Process& mpi) {
      std::vector<Request*> requests = receives(self, mpi, program.communicator, n);
      CHECK(mpi.waitsome(self, requests) == std::vector<int>{0});
      time = self.now() - sent;
    });
    program.run();
    return time;
  };
  const PointConfig point = test::small_point();
  const Duration each = point.machine.waiting.detach + point.machine.waiting.check;
  const Duration poll_turn = 2_us; // the arrival falls anywhere into a turn
  const Duration difference = time_after_arrival(1001) - time_after_arrival(1);
  CHECK(difference > each * 1000 - poll_turn);
  CHECK(difference < each * 1000 + poll_turn);
}

TEST_CASE("completions that a waitany leaves behind do not end the next wait", "[mpi][waiting][race]") {
  // Thread 1 makes progress and completes both receives of thread 0, one shortly after the other: the second completion
  // falls everywhere from before the first wakes its waiter until after the waiter waits again.
  for (int step = 0; step < 400; ++step) {
    const Duration gap = 25_ns * step;
    CAPTURE(step);
    Program program(2);
    const int comm = program.communicator;
    TimePoint last_sent;
    program.thread(0, [&](SimThread& self, Process& mpi) {
      self.spend(30_us, Category::software);
      mpi.send(self, comm, 1, 0, 0);
      self.spend(gap, Category::software);
      mpi.send(self, comm, 1, 1, 0);
      self.spend(40_us, Category::software);
      last_sent = self.now();
      mpi.send(self, comm, 1, 2, 0);
      self.spend(20_us, Category::software);
      mpi.send(self, comm, 1, 99, 0);
    });
    program.thread(1, [&](SimThread& self, Process& mpi) {
      std::vector<Request*> requests = receives(self, mpi, comm, 2);
      Request* const third = mpi.irecv(self, comm, 0, 2, 0);
      self.spend(10_us, Category::software); // the other one is in progress by now
      CHECK(mpi.waitany(self, requests) == 0);
      mpi.wait(self, third);
      CHECK(self.now() > last_sent + test::small_point().route.latency);
      CHECK(mpi.waitany(self, requests) == 1);
    });
    program.thread(1, [&](SimThread& self, Process& mpi) { mpi.recv(self, comm, 0, 99, 0); });
    program.run();
  }
}

TEST_CASE("persistent receives are started again and again", "[mpi][waiting][persistent]") {
  for (const std::string& engine : test::engines_that_act_at_once()) {
    CAPTURE(engine);
    Program program(2, waits_with(engine));
    const int comm = program.communicator;
    program.thread(0, [&](SimThread& self, Process& mpi) {
      Request* const send = mpi.send_init(self, comm, 1, 7, 40);
      for (int i = 0; i < 10; ++i) {
        self.spend(30_us, Category::software); // so that one message is there at a time
        mpi.start(self, *send);
        mpi.wait(self, send);
        CHECK_FALSE(send->active);
      }
      mpi.wait(self, send); // of an inactive request: returns at once
      mpi.request_free(self, send);
    });
    program.thread(1, [&](SimThread& self, Process& mpi) {
      std::vector<Request*> requests{mpi.recv_init(self, comm, any_source, 7, 64),
                                     mpi.recv_init(self, comm, any_source, 7, 64)};
      CHECK_THROWS_AS(mpi.request_free(self, mpi.irecv(self, comm, 0, 50, 0)), std::logic_error);
      for (Request* request : requests) {
        CHECK_FALSE(request->active);
        mpi.start(self, *request);
        CHECK_THROWS_AS(mpi.start(self, *request), std::logic_error);
      }
      for (int i = 0; i < 8; ++i) { // two stay posted at the end
        const int index = mpi.waitany(self, requests);
        REQUIRE(index == i % 2); // in the order in which they were posted
        Request* const request = requests[static_cast<std::size_t>(index)];
        CHECK(request->bytes == 40);
        mpi.start(self, *request);
      }
      mpi.waitall(self, requests);
      for (Request* request : requests) {
        mpi.request_free(self, request);
      }
    });
    program.run();
    CHECK(program.counters(1).received == 10);
  }
}

TEST_CASE("flags: the waiter reads all of them, whoever completes takes a line", "[mpi][waiting]") {
  // The same exchange with a counter and with flags; only the prices of looking differ.
  const auto elapsed = [](const std::string& notification, int window, Duration check) {
    PointConfig point = test::small_point();
    point.workload.multirate.pairs = 1;
    point.workload.multirate.window = window;
    point.library.progress.engine = "serial-blocking";
    point.library.waiting.notification = notification;
    point.machine.waiting.check = check;
    return simulate(point, {}).workload.elapsed;
  };
  CHECK(elapsed("sync-object", 64, 2_ns) == elapsed("sync-object", 64, 20_ns));
  CHECK(elapsed("request-flags", 64, 20_ns) > elapsed("request-flags", 64, 2_ns) + 64 * 18_ns);
  CHECK(elapsed("request-flags", 64, 20_ns) > elapsed("sync-object", 64, 20_ns));
}

TEST_CASE("whatever idle threads do, messages arrive", "[mpi][waiting]") {
  for (const std::string& idle : idling_registry().names()) {
    for (const std::string engine : {"ownership", "concurrent"}) {
      for (const int limit : {1, 3}) {
        CAPTURE(idle, engine, limit);
        PointConfig point = waits_with(engine);
        point.library.progress.threads_in_progress = limit;
        point.library.waiting.idle = idle;
        point.workload.multirate.pairs = 6;
        const PointResult result = simulate(point, {});
        CHECK(result.receiver.received == 6 * 16 * 4);
        const Duration asleep = result.workload.times[1][static_cast<std::size_t>(Category::blocked)];
        CHECK((asleep > Duration{}) == idle.ends_with("sleep"));
      }
    }
  }
}

TEST_CASE("yielding costs a system call per turn that finds nothing", "[mpi][waiting]") {
  PointConfig point = test::small_point();
  point.workload.multirate.pairs = 1;
  const auto idle_time = [&](bool yields, Duration price) {
    point.library.progress.yield_when_idle = yields;
    point.machine.futex.yield_call = price;
    const PointResult result = simulate(point, {});
    return result.workload.elapsed;
  };
  const Duration without = idle_time(false, 900_ns);
  CHECK(idle_time(true, 0_ns) == without);
  CHECK(idle_time(true, 900_ns) > without);
}

namespace {

/// Waiting threads poll their own instance, and a yield takes 900 ns.
PointConfig yielding_point(bool when_idle, bool every_turn) {
  PointConfig point = test::small_point();
  point.library.progress.engine = "per-target";
  point.library.progress.yield_when_idle = when_idle;
  point.library.progress.yield_every_turn = every_turn;
  point.machine.futex.yield_call = 900_ns;
  point.machine.noise = {};
  return point;
}

} // namespace

TEST_CASE("yielding after every turn costs a system call for each batch of messages, though all have arrived",
          "[mpi][waiting]") {
  constexpr int messages = 12;
  const int batch = GENERATE(1, 3, 64);
  const auto waited = [&](bool idle, bool every) {
    PointConfig point = yielding_point(idle, every);
    point.machine.nic.poll_batch = batch;
    Program program(2, point);
    Duration time;
    program.thread(0, [&](SimThread& self, Process& process) {
      for (int i = 0; i < messages; ++i) {
        process.send(self, program.communicator, 1, 7, 0);
      }
    });
    program.thread(1, [&](SimThread& self, Process& process) {
      std::vector<Request*> requests;
      for (int i = 0; i < messages; ++i) {
        requests.push_back(process.irecv(self, program.communicator, 0, 7, 0));
      }
      self.spend(10_ms, Category::software);
      const TimePoint begin = self.now();
      process.waitall(self, requests);
      time = self.now() - begin;
    });
    program.run();
    return time;
  };
  const Duration without = waited(false, false);
  CHECK(waited(true, false) == without); // no turn finds nothing
  const int turns = (messages + batch - 1) / batch;
  CHECK(waited(true, true) == without + turns * 900_ns);
  CHECK(waited(false, true) == without + turns * 900_ns);
}

TEST_CASE("a thread that tests does not yield after every turn, but when idle if told so", "[mpi][waiting]") {
  const auto tested = [&](bool idle, bool every) {
    PointConfig point = yielding_point(idle, every);
    Program program(2, point);
    Duration time;
    program.thread(0, [&](SimThread& self, Process& process) {
      Request* request = process.irecv(self, program.communicator, 1, 7, 0);
      const TimePoint begin = self.now();
      CHECK_FALSE(process.test(self, &request));
      CHECK_FALSE(process.get_status(self, request));
      time = self.now() - begin;
    });
    program.run();
    return time;
  };
  const Duration without = tested(false, false);
  CHECK(tested(false, true) == without);
  CHECK(tested(true, false) == without + 2 * 900_ns);
}

TEST_CASE("nothing completes while the workload calls over nothing complete", "[mpi][waiting]") {
  for (const std::string call : {"testsome", "testany", "testall", "sync-query", "sync-query-bulk"}) {
    for (const int requests : {1, 64}) {
      PointConfig point = test::small_point();
      point.workload.kind = "waiting";
      point.workload.waiting.call = call;
      point.workload.waiting.requests = requests;
      point.workload.waiting.complete = 0;
      point.workload.waiting.iterations = 60;
      CAPTURE(call, requests);
      CHECK_NOTHROW(simulate(point, {})); // counts what the calls report
    }
  }
}

TEST_CASE("a request whose handle the application has is given back under the lock of all requests", "[mpi][waiting]") {
  const auto time_to_receive = [](const std::string& engine, bool blocking) {
    PointConfig point = test::small_point();
    point.library.progress.engine = engine;
    point.machine.noise = Duration{};
    Program program(2, point);
    Duration time;
    program.thread(0, sender(program.communicator, 2, 1_us));
    program.thread(1, [&](SimThread& self, Process& mpi) {
      mpi.recv(self, program.communicator, 0, 1, 0); // the other message has come before
      const TimePoint begin = self.now();
      if (blocking) {
        mpi.recv(self, program.communicator, 0, 0, 0);
      } else {
        mpi.wait(self, mpi.irecv(self, program.communicator, 0, 0, 0));
      }
      self.settle();
      time = self.now() - begin;
    });
    program.run();
    return time;
  };
  CHECK(time_to_receive("request-lock", false) > time_to_receive("request-lock", true));
  CHECK(time_to_receive("serial-blocking", false) == time_to_receive("serial-blocking", true));
}

TEST_CASE("which calls yield after a turn that found nothing", "[mpi][waiting]") {
  const auto in_call = [](const std::string& yields, Duration price, const auto& call) {
    PointConfig point = yielding_point(true, false);
    point.library.waiting.yields = yields;
    point.machine.futex.yield_call = price;
    Program program(2, point);
    Duration time;
    program.thread(0, [&](SimThread& self, Process& process) {
      self.spend(100_us, Category::software);
      process.send(self, program.communicator, 1, 7, 0);
    });
    program.thread(1, [&](SimThread& self, Process& process) {
      std::vector<Request*> requests{process.irecv(self, program.communicator, 0, 7, 0)};
      self.settle();
      const TimePoint begin = self.now();
      call(self, process, requests);
      self.settle();
      time = self.now() - begin;
      if (requests.front() != nullptr) {
        process.waitall(self, requests);
      }
    });
    program.run();
    return time;
  };
  const auto yields = [&](const std::string& which, const auto& call) {
    return in_call(which, 30_us, call) > in_call(which, 0_ns, call) + 20_us;
  };
  const auto test = [](SimThread& self, Process& process, std::vector<Request*>& requests) {
    CHECK_FALSE(process.test(self, requests.data()));
  };
  const auto waitany = [](SimThread& self, Process& process, std::vector<Request*>& requests) {
    for (int turn = 0; turn < 3 && requests.front() != nullptr; ++turn) {
      CHECK(process.waitany(self, requests) == 0);
    }
  };
  const auto get_it = [](SimThread& self, Process& process, std::vector<Request*>& requests) {
    process.waitall(self, requests);
    requests.front() = nullptr;
  };
  CHECK(yields("every-call", test));
  CHECK_FALSE(yields("waits", test));
  CHECK_FALSE(yields("waits-for-all", test));
  for (const std::string which : {"every-call", "waits", "waits-for-all"}) {
    CAPTURE(which);
    // A yield of 70 us is under way when the message comes.
    const bool any = in_call(which, 70_us, waitany) > in_call(which, 0_ns, waitany) + 20_us;
    CHECK(any == (which != "waits-for-all"));
    CHECK(in_call(which, 70_us, get_it) > in_call(which, 0_ns, get_it) + 20_us);
  }
}
