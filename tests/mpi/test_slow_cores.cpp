// Whole runs on hosts whose cores differ in pace: what is skipped must still come to what it would have come to.
#include "../core/support/paces.hpp"
#include "../core/support/waiting.hpp"
#include "mpi/arrival_board.hpp"
#include "simulation/simulation.hpp"
#include "support/idle_poll_pair.hpp"
#include "support/random_point.hpp"
#include "support/shared_memory.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace contend;
using test::CallEvent;
using test::MixedCores;
using test::require_equal;

namespace {

constexpr SlowCoreParameters mixed_cores{0.5, 1.45};

PointConfig mixed_point(int pairs) {
  PointConfig point = test::small_point();
  test::add_jitter(point);
  point.machine.slow_cores = mixed_cores;
  point.workload.multirate.pairs = pairs;
  return point;
}

/// Through sockets, boxes or an interface, of one host.
PointConfig on_one_host(const std::string& transport, int pairs) {
  PointConfig point = mixed_point(pairs);
  TcpParameters& tcp = point.machine.tcp;
  tcp.send_call = 2'003'009_ps;
  tcp.contended_send = 1'503'001_ps;
  tcp.poll_event = 277'003_ps;
  tcp.acknowledge = 1'209'003_ps;
  tcp.full_send_call = 1'003'009_ps;
  tcp.receive_call = 3'003'011_ps;
  tcp.poll_call = 403'003_ps;
  tcp.copy_bytes_per_second = 10e9;
  tcp.buffer_bytes = 200'000;
  tcp.packet_bytes = 700;
  tcp.receive_bytes = 10'000;
  point.machine.shared_memory = test::odd_shared_memory();
  point.library.transport.kind = transport;
  point.library.protocol.pending_order = "fifo";
  point.placement.hosts = 1;
  return point;
}

SchedulerParameters short_slices_of(const std::string& policy) {
  SchedulerParameters scheduler;
  scheduler.policy = policy;
  scheduler.latency = 200'011_ns;
  scheduler.slice = 25'017_ns;
  scheduler.wakeup_granularity = 30'003_ns;
  scheduler.context_switch = 1'303'007_ps;
  scheduler.process_switch = 409'013_ps;
  scheduler.cache_refill = 2'003'029_ps;
  scheduler.cache_hot = 50'021_ns;
  scheduler.balance_period = 401'003_ns;
  scheduler.switch_jitter = 151'021_ps;
  scheduler.tick = 20'003_ns;
  scheduler.tick_cost = 307'003_ps;
  return scheduler;
}

} // namespace

TEST_CASE("idle polls on slow cores: every progress engine", "[mpi][idle poll][slow cores]") {
  for (const char* const engine :
       {"ownership", "serial-blocking", "serial-try-lock", "concurrent", "per-target", "every-nth", "offload-thread"}) {
    for (const int pairs : {1, 3}) {
      for (const int instances : {1, 3}) {
        for (int replication = 0; replication < 4; ++replication) {
          PointConfig point = mixed_point(pairs);
          point.library.progress.engine = engine;
          point.library.progress.global_every = 16;
          point.library.instances.count = instances;
          CAPTURE(engine);
          require_equal(point, replication);
        }
      }
    }
  }
}

TEST_CASE("idle polls on slow cores: locks", "[mpi][idle poll][slow cores]") {
  for (const std::string& lock : test::patient_locks()) {
    for (const int pairs : {1, 4}) {
      for (int replication = 0; replication < 3; ++replication) {
        PointConfig point = mixed_point(pairs);
        point.library.instances.lock = lock;
        point.library.progress.lock = lock;
        point.library.matching.lock = lock;
        require_equal(point, replication);
      }
    }
  }
}

TEST_CASE("idle polls on slow cores: sends that wait for room", "[mpi][idle poll][delayed][slow cores]") {
  for (const char* const order : {"fifo", "reversing"}) {
    for (const int depth : {1, 3}) {
      for (int replication = 0; replication < 4; ++replication) {
        PointConfig point = mixed_point(3);
        point.library.protocol.pending_order = order;
        point.machine.nic.send_queue_depth = depth;
        point.workload.multirate.window = 32;
        CHECK(test::run_both(point, replication).coalesced.sender.delayed_sends > 0);
        require_equal(point, replication);
      }
    }
  }
}

TEST_CASE("idle polls on slow cores: transports of one host", "[mpi][idle poll][slow cores]") {
  for (const char* const transport : {"interface", "tcp", "shared-memory"}) {
    for (const char* const engine : {"ownership", "concurrent", "serial-try-lock"}) {
      for (const char* const mode : {"process", "thread"}) {
        for (const int pairs : {1, 3}) {
          for (int replication = 0; replication < 3; ++replication) {
            PointConfig point = on_one_host(transport, pairs);
            point.library.progress.engine = engine;
            point.workload.multirate.mode = mode;
            CAPTURE(transport, engine, mode);
            require_equal(point, replication);
          }
        }
      }
    }
  }
}

TEST_CASE("idle polls on slow cores that threads share", "[mpi][idle poll][scheduler][slow cores]") {
  const std::string transport = GENERATE("interface", "tcp", "shared-memory");
  struct Outcome {
    int runs = 0;
    int different = 0;
    double sum = 0; ///< of relative errors
    std::uint64_t steps = 0;
    std::uint64_t skipped = 0;
  };
  const auto outcome = [&](const SlowCoreParameters& slow_cores) {
    Outcome all;
    for (const char* const policy : {"cfs", "eevdf"}) {
      for (const char* const threads : {"pinned", "floating"}) {
        for (const int pairs : {1, 2, 5}) {
          for (int replication = 0; replication < 8; ++replication) {
            PointConfig point = on_one_host(transport, pairs);
            point.machine.slow_cores = slow_cores;
            point.machine.scheduler = short_slices_of(policy);
            point.library.progress.engine = "ownership";
            point.placement.threads = threads;
            point.placement.cores = 2;
            const test::Pair pair = test::run_both(point, replication);
            ++all.runs;
            all.different += test::equal(pair) ? 0 : 1;
            all.sum +=
                pair.coalesced.workload.elapsed.in_seconds() / pair.turn_by_turn.workload.elapsed.in_seconds() - 1.0;
            all.steps += pair.turn_by_turn.steps;
            all.skipped += pair.turn_by_turn.steps - pair.coalesced.steps;
          }
        }
      }
    }
    return all;
  };
  // Some runs differ on shared cores (see "idle polls: threads that share cores"): not more of them than where cores are alike.
  const Outcome alike = outcome({});
  const Outcome mixed = outcome(mixed_cores);
  CAPTURE(transport, mixed.runs, alike.different, mixed.different, alike.sum / alike.runs, mixed.sum / mixed.runs);
  CHECK(mixed.different <= alike.different + mixed.runs / 12);
  CHECK(std::abs(mixed.sum / mixed.runs) < 0.02);
  CHECK(mixed.skipped * 8 > mixed.steps);
}

TEST_CASE("who looks at a board sees a change at the end of the look that falls on it",
          "[mpi][partitioned][slow cores]") {
  constexpr Duration look = 71'003_ps;
  for (const Duration written : {10'000_ps, 1'000'003_ps, 3'333'331_ps}) {
    for (const bool slow : {false, true}) {
      CAPTURE(written.count(), slow);
      const auto seen = [&](bool look_by_look) {
        Engine engine(1);
        const MixedCores cores = test::mix_cores(engine);
        ArrivalBoard board("board", look);
        board.clear(1);
        RdmaRequest request;
        request.bytes = 1;
        CallEvent arrival(engine, [&] { board.written(request); });
        engine.schedule(arrival, TimePoint::at(written));
        engine.spawn("receiver", 0, slow ? cores.slow : cores.quick, [&](SimThread& self) {
          if (look_by_look) {
            do {
              board.look(self);
            } while (!board.complete());
          } else {
            board.look_until(self, [&] { return board.complete(); });
          }
        });
        engine.run();
        return engine.now();
      };
      CHECK(seen(false).since_start().count() == seen(true).since_start().count());
    }
  }
}

TEST_CASE("a look that takes nothing on a quick core ends", "[mpi][partitioned][slow cores]") {
  Engine engine(1);
  const test::MixedCores cores(engine, 8, {0.5, 1'000.0});
  engine.set_core_paces(0, cores.paces);
  ArrivalBoard board("board", 100_ps); // 0.2 ps there
  board.clear(1);
  RdmaRequest request;
  request.bytes = 1;
  CallEvent arrival(engine, [&] { board.written(request); });
  engine.schedule(arrival, TimePoint::at(1_us));
  engine.spawn("receiver", 0, cores.quick, [&](SimThread& self) {
    board.look_until(self, [&] { return board.complete(); });
    CHECK(self.now() == TimePoint::at(1'000'001_ps));
  });
  engine.run();
}
