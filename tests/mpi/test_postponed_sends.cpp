// Messages that wait at their interface, under its lock, and turns of progress that take the lock of an interface twice.
#include "core/contention_account.hpp"
#include "simulation/simulation.hpp"
#include "support/idle_poll_pair.hpp"
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

using namespace contend;
using test::Program;

namespace {

PointConfig at_interface(const std::string& section = "instance") {
  PointConfig point = test::small_point();
  point.library.critical_section = section;
  point.library.instances = {1, "round-robin", "pthread-mutex", "communicator"};
  point.library.matching.domain = "instance";
  point.library.matching.guard = "instance";
  point.library.matching.ordering = "transport";
  point.library.protocol.pending_order = "at-interface";
  point.library.progress.engine = "per-target";
  point.machine.nic.send_queue_depth = 6;
  point.machine.nic.send_completion_batch = 2;
  return point;
}

/// How often threads of a rank took the lock of its only interface since the accounts were started afresh.
std::int64_t taken(const ContentionAccount& account, const std::string& rank) {
  const std::vector<ContentionAccount::LockAccount> locks = account.locks();
  const auto found = std::find_if(locks.begin(), locks.end(), [&](const ContentionAccount::LockAccount& one) {
    return one.lock->name == rank + "/instance 0";
  });
  REQUIRE(found != locks.end());
  std::int64_t sum = 0;
  for (const auto& use : found->uses) {
    sum += use.acquisitions;
  }
  return sum;
}

} // namespace

TEST_CASE("a send takes its interface's lock once, whether it goes or waits", "[mpi][postponed]") {
  // MPICH 5.0.2 took its lock 128 times for 128 MPI_Isend of which 64 found no cell (docs/decisions/0065).
  Program program(2, at_interface());
  const ContentionAccount account(program.engine);
  std::int64_t calls = 0;
  program.thread(0, [&](SimThread& self, Process& mpi) {
    std::vector<Request*> requests;
    self.reset_times();
    for (int k = 0; k < 20; ++k) {
      requests.push_back(mpi.isend(self, program.communicator, 1, k, 0));
    }
    self.settle();
    calls = taken(account, "rank 0");
    mpi.waitall(self, requests);
  });
  program.thread(1, [&](SimThread& self, Process& mpi) {
    self.reset_times();
    self.spend(100_us, Category::software);
    for (int k = 0; k < 20; ++k) {
      mpi.recv(self, program.communicator, 0, k, 0);
    }
  });
  program.run();
  CHECK(program.counters(0).delayed_sends > 10);
  CHECK(program.counters(1).received == 20);
  CHECK(calls == 20);
}

TEST_CASE("a turn of progress sends one of the messages that wait", "[mpi][postponed]") {
  Program program(2, at_interface());
  int turns = 0;
  bool finished = false;
  program.thread(0, [&](SimThread& self, Process& mpi) {
    std::vector<Request*> requests;
    for (int k = 0; k < 20; ++k) {
      requests.push_back(mpi.isend(self, program.communicator, 1, k, 0));
    }
    self.spend(100_us, Category::software); // there is room for all of the queue again
    const auto waiting = [&] {
      return std::count_if(requests.begin(), requests.end(),
                           [](const Request* request) { return request != nullptr && !request->complete; });
    };
    auto before = waiting();
    while (before > 0) {
      Request* last = *std::find_if(requests.begin(), requests.end(),
                                    [](const Request* request) { return request != nullptr && !request->complete; });
      mpi.get_status(self, last);
      ++turns;
      CHECK(before - waiting() <= 1);
      before = waiting();
    }
    mpi.waitall(self, requests);
    finished = true;
  });
  program.thread(1, [&](SimThread& self, Process& mpi) {
    for (int k = 0; k < 20; ++k) {
      mpi.recv(self, program.communicator, 0, k, 0);
    }
  });
  program.run();
  CHECK(finished);
  CHECK(turns >= program.counters(0).delayed_sends);
}

TEST_CASE("messages that wait at their interface keep their order and are not lost", "[mpi][postponed]") {
  for (const std::string section : {"fine", "global", "instance"}) {
    for (const std::string other : {"none", "before", "after"}) {
      for (const int instances : {1, 3}) {
        for (const std::string handler : {"instance", "none"}) {
          if (section != "fine" && handler == "none") {
            continue; // a handler without the lock needs one that is given back
          }
          CAPTURE(section, other, instances, handler);
          PointConfig point = at_interface(section);
          test::add_jitter(point);
          point.library.instances.count = instances;
          point.library.progress.other_interface = other;
          point.library.transport.handler_lock = handler;
          if (handler == "none") { // threads that handle messages without the lock pass each other
            point.library.matching.guard = "lock";
            point.library.matching.ordering = "sequence-numbers";
          }
          Program program(2, point);
          int finished = 0;
          for (int thread = 0; thread < 3; ++thread) {
            const int communicator = program.world.create_communicator(false);
            for (const int rank : {0, 1}) {
              program.thread(rank, [&, rank, communicator](SimThread& self, Process& mpi) {
                std::vector<Request*> receives;
                std::vector<Request*> sends;
                for (int k = 0; k < 30; ++k) {
                  receives.push_back(mpi.irecv(self, communicator, 1 - rank, any_tag, 100));
                  sends.push_back(mpi.isend(self, communicator, 1 - rank, k, 100));
                }
                for (int k = 0; k < 30; ++k) {
                  mpi.wait(self, receives[static_cast<std::size_t>(k)]);
                  CHECK(receives[static_cast<std::size_t>(k)]->received_tag == k);
                }
                mpi.waitall(self, sends);
                ++finished;
              });
            }
          }
          program.run();
          CHECK(finished == 6);
          CHECK(program.counters(0).delayed_sends > 0);
        }
      }
    }
  }
}

TEST_CASE("a turn that finds nothing takes the lock for the other interface as well", "[mpi][postponed]") {
  // MPICH 5.0.2: two calls of pthread_mutex_lock for each turn of an MPI_Wait in vain (docs/decisions/0065).
  const auto locks_of_a_test = [](const std::string& other, bool finds) {
    PointConfig point = at_interface();
    point.library.progress.other_interface = other;
    Program program(2, point);
    const ContentionAccount account(program.engine);
    std::int64_t calls = 0;
    program.thread(0, [&](SimThread& self, Process& mpi) {
      Request* request = mpi.irecv(self, program.communicator, 1, 0, 0);
      self.spend(100_us, Category::software);
      self.reset_times();
      CHECK(mpi.get_status(self, request) == finds);
      self.settle();
      calls = taken(account, "rank 0");
      mpi.wait(self, request);
    });
    program.thread(1, [&](SimThread& self, Process& mpi) {
      self.reset_times();
      self.spend(finds ? 1_us : 200_us, Category::software);
      mpi.send(self, program.communicator, 0, 0, 0);
    });
    program.run();
    return calls;
  };
  CHECK(locks_of_a_test("none", false) == 1);
  CHECK(locks_of_a_test("after", false) == 2);
  CHECK(locks_of_a_test("before", false) == 2);
  CHECK(locks_of_a_test("none", true) == 1);
  CHECK(locks_of_a_test("after", true) == 1);
  CHECK(locks_of_a_test("before", true) == 2);
}

TEST_CASE("skipping idle polls of two interfaces changes nothing", "[mpi][postponed][idle poll]") {
  for (const std::string engine : {"per-target", "concurrent", "serial-blocking"}) {
    for (const std::string other : {"before", "after"}) {
      for (const int instances : {1, 3}) {
        for (const int pairs : {1, 2, 4}) {
          for (int replication = 0; replication < 5; ++replication) {
            PointConfig point = at_interface(replication % 2 == 0 ? "fine" : "instance");
            test::add_jitter(point);
            point.library.progress.engine = engine;
            point.library.progress.other_interface = other;
            point.library.instances.count = instances;
            point.workload.multirate.communicator_per_pair = true;
            point.workload.multirate.pairs = pairs;
            point.workload.multirate.window = 32;
            CAPTURE(engine, other, instances);
            test::require_equal(point, replication);
          }
        }
      }
    }
  }
}
