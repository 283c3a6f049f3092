// Which lock guards what: VCIs, one global critical section, and no locks at all.
#include "core/contention_account.hpp"
#include "simulation/simulation.hpp"
#include "support/engines.hpp"
#include "support/observe.hpp"
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

using namespace contend;

namespace {

PointConfig vcis(int count) {
  PointConfig point = test::small_point();
  point.library.instances = {count, "round-robin", "pthread-mutex", "communicator"};
  point.library.matching.domain = "instance";
  point.library.matching.guard = "instance";
  point.library.matching.ordering = "transport";
  point.library.protocol.pending_order = "fifo";
  point.library.progress.engine = "per-target";
  point.workload.multirate.communicator_per_pair = true;
  return point;
}

PointConfig global_section() {
  PointConfig point = test::small_point();
  point.library.critical_section = "global";
  point.library.matching.domain = "global";
  point.library.matching.ordering = "transport";
  point.library.protocol.pending_order = "fifo";
  point.library.progress.engine = "per-target";
  return point;
}

PointConfig single_worker() {
  PointConfig point = test::small_point();
  point.library.matching.domain = "global";
  point.library.matching.guard = "instance";
  point.library.matching.ordering = "transport";
  point.library.protocol.pending_order = "fifo";
  return point;
}

double in_percent(Duration part, Duration whole) {
  return 100 * static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

Duration lock_wait(const PointResult& result) {
  Duration sum;
  for (const SimThread::Times& times : result.workload.times) {
    sum += times[static_cast<std::size_t>(Category::lock_wait)];
  }
  return sum;
}

} // namespace

TEST_CASE("a call that holds its instance keeps others out of its code", "[mpi][vci]") {
  PointConfig fine = single_worker();
  fine.library.progress.engine = "per-target";
  fine.machine.software.send_call = 900'017_ps;
  fine.workload.multirate.message_size_bytes = 512;
  fine.workload.multirate.iterations = 20;
  PointConfig whole = fine;
  whole.library.critical_section = "instance";
  const auto elapsed = [](PointConfig point, int pairs) {
    point.workload.multirate.pairs = pairs;
    return simulate(point, {}).workload.elapsed;
  };
  CHECK(in_percent(elapsed(whole, 1), elapsed(fine, 1)) == Approx(100).margin(1)); // nobody is kept out
  CHECK(in_percent(elapsed(whole, 4), elapsed(fine, 4)) > 115);
  CHECK(lock_wait(simulate(whole, {})) > lock_wait(simulate(fine, {})));
}

TEST_CASE("with one lock for a whole call nothing is lost, whatever the messages are", "[mpi][vci]") {
  for (const std::int64_t bytes : {0, 512, 50'000}) {
    for (const bool any_source : {false, true}) {
      PointConfig point = single_worker();
      point.library.critical_section = "instance";
      point.workload.multirate.message_size_bytes = bytes;
      point.workload.multirate.any_source = any_source;
      CAPTURE(bytes, any_source);
      const test::Observation run = test::observe(point, 1);
      const test::Totals all(run);
      CHECK(all.sent == all.received);
      CHECK(all.left_in_queues == 0);
      CHECK(run.accounts_add_up);
    }
  }
}

TEST_CASE("payload is packed under the lock of the instance that sends it", "[mpi][locks]") {
  PointConfig shared = test::small_point();
  shared.machine.software.copy_bytes_per_second = 1e9;
  shared.workload.multirate.message_size_bytes = 4000; // 4 us for each copy
  shared.library.protocol.eager_limit_bytes = 8192;
  shared.workload.multirate.communicator_per_pair = true;
  PointConfig apart = shared;
  apart.library.instances.count = 4;
  apart.library.instances.assignment = "dedicated";
  const PointResult one = simulate(shared, {});
  const PointResult four = simulate(apart, {});
  // The senders' copies take turns: each waits for those of others, more than all copies together take.
  const Duration copies = Duration::microseconds(4) * (4 * 16 * 3);
  CAPTURE(lock_wait(one).count(), lock_wait(four).count(), copies.count());
  CHECK(lock_wait(one) > copies);
  CHECK(lock_wait(four) < copies.scaled(0.5));
}

TEST_CASE("two communicators on two VCIs do not contend", "[mpi][vci]") {
  // Both pairs on the first socket, where all costs are the same; the interface is fast enough for both.
  PointConfig one = vcis(3);
  one.workload.multirate.window = 2000;
  one.workload.multirate.iterations = 2;
  one.machine.nic.send_queue_depth = 4000;
  one.machine.nic.nic_gap = 0_ps;
  one.library.progress.global_every = 1'000'000; // no turn of all VCIs falls into the run
  one.workload.multirate.pairs = 1;
  PointConfig two = one;
  two.workload.multirate.pairs = 2;
  PointConfig shared = two;
  shared.library.instances.count = 1;
  const double alone = static_cast<double>(simulate(one, {}).workload.elapsed.count());
  const double apart = static_cast<double>(simulate(two, {}).workload.elapsed.count());
  const double together = static_cast<double>(simulate(shared, {}).workload.elapsed.count());
  CHECK(apart < 1.03 * alone); // barriers between iterations, of two threads instead of one
  CHECK(together > 1.3 * apart);
}

TEST_CASE("messages that are mapped by tag keep their order within a tag", "[mpi][vci]") {
  PointConfig point = vcis(3);
  point.library.instances.mapping = "tag";
  test::Program program(2, point);
  const int comm = program.communicator;
  program.thread(0, [&](SimThread& self, Process& mpi) {
    for (std::int64_t size = 0; size < 60; ++size) {
      mpi.send(self, comm, 1, static_cast<int>(size % 5), size);
    }
  });
  program.thread(1, [&](SimThread& self, Process& mpi) {
    CHECK_THROWS_AS(mpi.irecv(self, comm, 0, any_tag, 0), std::invalid_argument);
    for (int tag = 4; tag >= 0; --tag) {
      for (int k = 0; k < 12; ++k) {
        Request* const request = mpi.irecv(self, comm, 0, tag, 1024);
        mpi.wait(self, request);
        CHECK(request->received_tag == tag);
      }
    }
  });
  program.run();
  CHECK(program.counters(1).received == 60);
}

TEST_CASE("every way to guard the library delivers everything once", "[mpi][critical section]") {
  std::vector<PointConfig> points{vcis(1), vcis(3), vcis(20), global_section(), single_worker()};
  for (PointConfig point : std::vector<PointConfig>(points)) {
    point.workload.multirate.communicator_per_pair = true;
    points.push_back(point);
    point.library.progress.engine = "ownership";
    points.push_back(point);
    point.library.progress.engine = "concurrent";
    points.push_back(point);
    point.library.progress.engine = "serial-blocking";
    points.push_back(point);
  }
  for (PointConfig& point : points) {
    for (const int depth : {256, 6}) { // with few places in the queue, sends are delayed
      for (const bool coalesce : {true, false}) {
        point.machine.nic.send_queue_depth = depth;
        point.run.coalesce_idle_polls = coalesce;
        test::add_jitter(point); // without it, threads in lockstep can keep each other from a lock for ever
        CAPTURE(point.library.progress.engine, point.library.critical_section, point.library.matching.guard,
                point.library.instances.count, depth, coalesce);
        SimulationOptions options;
        options.step_limit = 5'000'000;
        const PointResult result = simulate(point, options); // NoLock refuses a second thread; lost messages throw
        CHECK(result.receiver.out_of_sequence == 0);
      }
    }
  }
}

TEST_CASE("a global critical section leaves nothing inside to wait for", "[mpi][critical section]") {
  PointConfig alone = global_section();
  alone.workload.multirate.pairs = 1;
  PointConfig crowded = alone;
  crowded.workload.multirate.pairs = 6;
  PointConfig finer = crowded;
  finer.library.critical_section = "fine";
  CHECK(lock_wait(simulate(crowded, {})) > 10 * lock_wait(simulate(alone, {})));
  const auto elapsed = [](PointConfig point) {
    test::add_jitter(point);
    Duration sum; // of several runs: in one of them threads may fall into a lucky step
    for (SimulationOptions options; options.replication < 20; ++options.replication) {
      sum += simulate(point, options).workload.elapsed;
    }
    return sum;
  };
  CHECK(elapsed(crowded) > elapsed(finer));
}

TEST_CASE("a call that tests is one critical section, with its turn of progress", "[mpi][critical section]") {
  test::Program program(2, global_section());
  const ContentionAccount account(program.engine);
  std::size_t calls = 0;
  program.thread(0, [&](SimThread& self, Process& mpi) {
    std::vector<Request*> requests{mpi.irecv(self, program.communicator, 1, 0, 0)};
    UserSync& sync = mpi.sync_init(self);
    self.reset_times();
    const std::vector<bool> found{mpi.test(self, requests.data()),        mpi.testany(self, requests) >= 0,
                                  !mpi.testsome(self, requests).empty(),  mpi.testall(self, requests),
                                  mpi.get_status(self, requests.front()), mpi.sync_query(self, sync).has_value()};
    CHECK(std::count(found.begin(), found.end(), true) == 0);
    calls = found.size();
  });
  program.run();
  const std::vector<ContentionAccount::LockAccount> locks = account.locks();
  const auto section = std::find_if(locks.begin(), locks.end(), [](const ContentionAccount::LockAccount& one) {
    return one.lock->name == "rank 0/global lock";
  });
  REQUIRE(section != locks.end());
  CHECK(section->uses.front().acquisitions == static_cast<std::int64_t>(calls));
}

TEST_CASE("threads that test under one critical section do not stop each other, whatever makes progress",
          "[mpi][critical section]") {
  for (const std::string& engine : test::engines_that_act_at_once()) {
    CAPTURE(engine);
    PointConfig point = global_section();
    point.library.progress.engine = engine;
    point.library.progress.yield_when_idle = true;
    test::Program program(2, point);
    int received = 0;
    for (int thread = 0; thread < 3; ++thread) {
      program.thread(0, [&, thread](SimThread& self, Process& mpi) {
        for (int message = 0; message < 20; ++message) {
          mpi.send(self, program.communicator, 1, thread, 0);
        }
      });
      program.thread(1, [&, thread](SimThread& self, Process& mpi) {
        for (int message = 0; message < 20; ++message) {
          Request* request = mpi.irecv(self, program.communicator, 0, thread, 0);
          while (!mpi.test(self, &request)) {
          }
          ++received;
        }
      });
    }
    program.run();
    CHECK(received == 60);
  }
}

TEST_CASE("without threads, MPI_THREAD_SINGLE saves locks and atomics and changes nothing else", "[mpi][single]") {
  for (const std::string mode : {"process", "thread"}) {
    PointConfig multiple = test::small_point();
    multiple.workload.multirate.mode = mode;
    multiple.workload.multirate.pairs = mode == "thread" ? 1 : 4;
    PointConfig single = multiple;
    single.library.thread_level = "single";
    const PointResult with = simulate(multiple, {});
    const PointResult without = simulate(single, {});
    CHECK(without.workload.elapsed < with.workload.elapsed);
    CHECK(lock_wait(without) == Duration{});
    CHECK(without.sender.sent == with.sender.sent);
    CHECK(without.receiver.received == with.receiver.received);
  }
}

TEST_CASE("threads at MPI_THREAD_SINGLE are caught", "[mpi][single]") {
  PointConfig point = test::small_point();
  point.library.thread_level = "single";
  point.workload.multirate.pairs = 8;
  CHECK_THROWS_AS(simulate(point, {}), InvariantViolation);
}

TEST_CASE("a rank can send to itself", "[mpi][calls]") {
  std::vector<PointConfig> points{test::small_point(), vcis(2), global_section(), single_worker()};
  points.push_back(test::small_point());
  points.back().library.progress.engine = "offload-thread";
  for (const PointConfig& point : points) {
    test::Program program(1, point);
    const int comm = program.communicator;
    program.thread(0, [&](SimThread& self, Process& mpi) {
      Request* const early = mpi.irecv(self, comm, 0, 1, 100);
      mpi.send(self, comm, 0, 1, 100);
      mpi.wait(self, early);
      mpi.send(self, comm, 0, 2, 100); // no receive yet
      mpi.recv(self, comm, any_source, 2, 100);
      CHECK_THROWS_AS(mpi.isend(self, comm, 1, 0, 0), std::invalid_argument);
      CHECK_THROWS_AS(mpi.isend(self, comm, -1, 0, 0), std::invalid_argument);
    });
    program.run();
    CHECK(program.counters(0).received == 2);
    CHECK(program.counters(0).sent == 2);
  }
}
