// Messages that come before their receive, and receives that do not name sender or tag.
#include "support/engines.hpp"
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace contend;
using test::Program;

TEST_CASE("messages that come before their receives wait for them", "[mpi][unexpected]") {
  for (const std::string& engine : test::engines_that_act_at_once()) {
    CAPTURE(engine);
    PointConfig point = test::small_point();
    point.library.progress.engine = engine;
    Program program(2, point);
    const int comm = program.communicator;
    program.thread(0, [&](SimThread& self, Process& mpi) {
      for (int tag = 0; tag < 5; ++tag) {
        mpi.send(self, comm, 1, tag, 64);
      }
    });
    program.thread(1, [&](SimThread& self, Process& mpi) {
      self.spend(100_us, Category::software);
      mpi.recv(self, comm, 0, 4, 64); // its wait finds the four others before it
      CHECK(program.counters(1).unexpected == 4);
      CHECK(program.counters(1).unexpected_in_queue == 4);
      for (const int tag : {2, 0, 3}) {
        Request* const request = mpi.irecv(self, comm, 0, tag, 64);
        CHECK(request->complete);
        CHECK(request->received_tag == tag);
        mpi.wait(self, request);
      }
      Request* const last = mpi.irecv(self, comm, any_source, any_tag, 64);
      CHECK(last->complete);
      CHECK(last->received_tag == 1);
      mpi.wait(self, last);
    });
    program.run();
    CHECK(program.counters(1).unexpected == 4);
    CHECK(program.counters(1).unexpected_in_queue == 0);
    CHECK(program.counters(1).unexpected_in_queue_max == 4);
    CHECK(program.counters(1).posted == 5);
  }
}

TEST_CASE("an unexpected message counts as received when its receive takes it", "[mpi][unexpected]") {
  Program program(2);
  const int comm = program.communicator;
  program.thread(0, [&](SimThread& self, Process& mpi) {
    mpi.send(self, comm, 1, 0, 0);
    mpi.send(self, comm, 1, 1, 0);
  });
  program.thread(1, [&](SimThread& self, Process& mpi) {
    self.spend(100_us, Category::software);
    mpi.recv(self, comm, 0, 1, 0);
    CHECK(program.counters(1).received == 1);
    mpi.recv(self, comm, 0, 0, 0);
    CHECK(program.counters(1).received == 2);
  });
  program.run();
}

TEST_CASE("an unexpected message is copied twice", "[mpi][unexpected]") {
  Duration copied[2];
  for (const bool expected : {false, true}) {
    Program program(2);
    const int comm = program.communicator;
    constexpr std::int64_t bytes = 4'850;
    program.thread(0, [&](SimThread& self, Process& mpi) {
      self.spend(10_us, Category::software);
      mpi.send(self, comm, 1, 0, bytes);
      mpi.send(self, comm, 1, 1, 0);
    });
    SimThread& receiver = program.thread(1, [&](SimThread& self, Process& mpi) {
      if (expected) {
        mpi.recv(self, comm, 0, 0, bytes);
        mpi.recv(self, comm, 0, 1, 0);
      } else {
        mpi.recv(self, comm, 0, 1, 0);
        mpi.recv(self, comm, 0, 0, bytes);
      }
    });
    program.run();
    copied[expected ? 1 : 0] = receiver.times()[static_cast<std::size_t>(Category::copy)];
  }
  CHECK(copied[1] == Duration::seconds(4'850 / 9.7e9));
  CHECK(copied[0] == 2 * copied[1]); // out of the transport's buffer, and to where the receive wants it
}

TEST_CASE("a message out of sequence is copied once more, also if it is unexpected then", "[mpi][unexpected]") {
  constexpr std::int64_t bytes = 970; // 0.1 us
  constexpr int each = 40;
  constexpr int senders = 3;
  for (const bool posted_before : {true, false}) {
    CAPTURE(posted_before);
    PointConfig point = test::small_point();
    test::add_jitter(point);
    point.library.instances.count = senders;
    point.library.instances.assignment = "dedicated";
    Program program(2, point);
    const int comm = program.communicator;
    for (int thread = 0; thread < senders; ++thread) {
      program.thread(0, [&](SimThread& self, Process& mpi) {
        self.spend(100_us, Category::software);
        std::vector<Request*> requests;
        for (int i = 0; i < each; ++i) {
          requests.push_back(mpi.isend(self, comm, 1, 0, bytes));
        }
        mpi.waitall(self, requests);
        mpi.send(self, comm, 1, 1, 0); // the last one of each thread
      });
    }
    SimThread& receiver = program.thread(1, [&](SimThread& self, Process& mpi) {
      std::vector<Request*> requests;
      const auto receive_all = [&] {
        for (int i = 0; i < senders * each; ++i) {
          requests.push_back(mpi.irecv(self, comm, 0, 0, bytes));
        }
      };
      if (posted_before) {
        receive_all();
      }
      for (int thread = 0; thread < senders; ++thread) {
        mpi.recv(self, comm, 0, 1, 0);
      }
      if (!posted_before) {
        receive_all();
      }
      mpi.waitall(self, requests);
    });
    program.run();
    const SpcCounters& counters = program.counters(1);
    REQUIRE(counters.out_of_sequence > 0);
    REQUIRE(counters.oos_in_queue == 0);
    const Duration copied = receiver.times()[static_cast<std::size_t>(Category::copy)];
    const Duration one = Duration::seconds(bytes / 9.7e9);
    if (posted_before) {
      // Those without payload may be out of sequence as well.
      CHECK(copied > one * (senders * each));
      CHECK(copied <= one * (senders * each + static_cast<std::int64_t>(counters.out_of_sequence)));
      CHECK(copied >= one * (senders * each + static_cast<std::int64_t>(counters.out_of_sequence) - senders));
    } else {
      CHECK(copied == one * (2 * senders * each));
    }
  }
}

TEST_CASE("a receive from any source takes messages of every rank, each rank's in order", "[mpi][wildcards]") {
  for (const std::string& engine : progress_registry().names()) {
    for (const bool late : {false, true}) { // receives before or after the messages
      CAPTURE(engine, late);
      PointConfig point = test::small_point();
      point.library.progress.engine = engine;
      Program program(4, point);
      const int comm = program.communicator;
      constexpr int each = 6;
      for (int rank = 1; rank < 4; ++rank) {
        program.thread(rank, [&, rank](SimThread& self, Process& mpi) {
          RandomStream random = program.engine.stream(self.name());
          for (int k = 0; k < each; ++k) {
            self.spend(random.exponential(3_us), Category::software);
            mpi.send(self, comm, 0, 100 * rank + k, 0);
          }
        });
      }
      program.thread(0, [&](SimThread& self, Process& mpi) {
        if (late) {
          self.spend(200_us, Category::software);
        }
        std::vector<int> next{0, 0, 0, 0};
        for (int i = 0; i < 3 * each; ++i) {
          Request* const request = mpi.irecv(self, comm, any_source, any_tag, 0);
          mpi.wait(self, request);
          const auto rank = static_cast<std::size_t>(request->received_tag / 100);
          REQUIRE(rank >= 1);
          REQUIRE(rank <= 3);
          CHECK(request->received_tag % 100 == next[rank]++);
        }
        CHECK(next == std::vector<int>{0, each, each, each});
      });
      program.run();
    }
  }
}

TEST_CASE("a receive that names its source leaves the others' messages alone", "[mpi][wildcards]") {
  Program program(3);
  const int comm = program.communicator;
  program.thread(0, [&](SimThread& self, Process& mpi) {
    Request* const from_two = mpi.irecv(self, comm, 2, any_tag, 0);
    Request* const from_any = mpi.irecv(self, comm, any_source, 5, 0);
    mpi.wait(self, from_any);
    CHECK_FALSE(from_two->complete);
    mpi.wait(self, from_two);
    CHECK(from_two->received_tag == 9);
  });
  program.thread(1, [&](SimThread& self, Process& mpi) { mpi.send(self, comm, 0, 5, 0); });
  program.thread(2, [&](SimThread& self, Process& mpi) {
    self.spend(100_us, Category::software);
    mpi.send(self, comm, 0, 9, 0);
  });
  program.run();
}

TEST_CASE("communicators do not see each other's messages", "[mpi][wildcards]") {
  Program program(2);
  const int first = program.communicator;
  const int second = program.world.create_communicator(false);
  program.thread(0, [&](SimThread& self, Process& mpi) {
    mpi.send(self, first, 1, 1, 0);
    mpi.send(self, second, 1, 2, 0);
  });
  program.thread(1, [&](SimThread& self, Process& mpi) {
    Request* const in_second = mpi.irecv(self, second, any_source, any_tag, 0);
    Request* const in_first = mpi.irecv(self, first, any_source, any_tag, 0);
    Request* const both[] = {in_second, in_first};
    mpi.waitall(self, both);
    CHECK(in_first->received_tag == 1);
    CHECK(in_second->received_tag == 2);
  });
  program.run();
}
