// The workload on locks: it counts right, costs what the lock costs, and places threads where it should.
#include "designs.hpp"
#include "models/locks/lock.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace contend;

namespace {

PointConfig point_of(const std::string& operation, int threads) {
  PointConfig config = test::small_point();
  config.machine.noise = 0_ns;
  config.workload.kind = "lock";
  LockUseParameters& workload = config.workload.lock_use;
  workload.operation = operation;
  workload.threads = threads;
  workload.lines = 1;
  workload.acquisitions = 200;
  workload.warmup_acquisitions = 20;
  return config;
}

Duration per_operation(const PointConfig& config) {
  const PointResult result = simulate(config, {});
  return Duration::picoseconds(result.workload.elapsed.count() / result.workload.operations);
}

} // namespace

TEST_CASE("one thread pays hits", "[lock use]") {
  const CacheParameters cache = test::small_point().machine.cache;
  CHECK(per_operation(point_of("fetch-and-add", 1)) == cache.atomic_hit);
  CHECK(per_operation(point_of("swap", 1)) == cache.atomic_hit);
  CHECK(per_operation(point_of("compare-and-swap", 1)) == cache.hit + cache.atomic_hit);
  CHECK(per_operation(point_of("store", 1)) == 2 * cache.hit);
  PointConfig config = point_of("lock", 1);
  config.workload.lock_use.section = 100_ns;
  config.workload.lock_use.delay = 250_ns;
  // From the end of the last warm-up to the end of the last operation.
  const Duration period = 2 * cache.atomic_hit + 2 * cache.hit + 100_ns + 250_ns;
  const PointResult result = simulate(config, {});
  CHECK(result.workload.elapsed == 200 * period);
}

TEST_CASE("two threads that swap one line pay a transfer for each", "[lock use][oracle]") {
  PointConfig config = point_of("swap", 2);
  config.machine.topology = {2, 4, 2};
  const CacheParameters cache = config.machine.cache;
  const std::vector<std::pair<std::string, Duration>> distances{
      {"compact", cache.transfer_smt}, {"cores-first", cache.transfer_socket}, {"spread", cache.transfer_remote}};
  for (const auto& [placement, distance] : distances) {
    CAPTURE(placement);
    config.workload.lock_use.placement = placement;
    CHECK(per_operation(config) == distance + cache.atomic_hit);
  }
}

TEST_CASE("a lock that nobody had before is not handed over", "[lock use]") {
  PointConfig config = point_of("lock", 1);
  LockUseParameters& workload = config.workload.lock_use;
  workload.locks = 50;
  workload.choice = "random";
  workload.warmup_acquisitions = 0;
  CHECK(simulate(config, {}).workload.locks->hand_overs == 0);
}

TEST_CASE("what others do after the last operation does not count", "[lock use]") {
  PointConfig config = point_of("lock", 8);
  LockUseParameters& workload = config.workload.lock_use;
  workload.acquisitions = 1;
  workload.warmup_acquisitions = 0;
  workload.section = 5_us;
  CHECK(simulate(config, {}).workload.locks->acquisitions_mean == 1.0);
}

TEST_CASE("every kind of lock guards its lines, under every placement and end", "[lock use][property]") {
  for (const std::string& kind : lock_registry().names()) {
    for (const char* operation : {"lock", "try-lock", "execute"}) {
      for (const char* stop : {"together", "each"}) {
        CAPTURE(kind, operation, stop);
        PointConfig config = point_of(operation, 6);
        LockUseParameters& workload = config.workload.lock_use;
        workload.lock = kind;
        workload.stop = stop;
        workload.locks = 2;
        workload.lines = 2;
        workload.choice = stop == std::string("each") ? "random" : "grouped";
        workload.placement = stop == std::string("each") ? "random" : "spread";
        workload.section = 20_ns;
        workload.delay = 300_ns;
        workload.retry = operation == std::string("try-lock") ? 50_ns : 0_ns;
        workload.acquisitions = 100;
        config.machine.noise = 5_ns;
        config.machine.futex.yield_call = 200_ns;
        const PointResult result = simulate(config, {}); // throws if a line lost an increment
        REQUIRE(result.workload.locks);
        const LockUseStatistics& use = *result.workload.locks;
        CHECK(result.workload.operations == 600);
        CHECK(use.acquisitions_mean == 100.0); // those who are inside when the end comes finish, and do not count
        CHECK(use.acquisitions_least <= use.acquisitions_most);
        CHECK(use.wait_mean_ns > 0.0);
        CHECK(use.wait_max_ns >= use.wait_mean_ns);
        CHECK((use.refused > 0) == (operation == std::string("try-lock")));
        const bool delegates = kind == "distributed-mutex" || kind.starts_with("flat-combining");
        CHECK((use.delegated > 0) == (delegates && operation == std::string("execute")));
        if (stop == std::string("each")) {
          CHECK(use.acquisitions_sd == 0.0);
        }
      }
    }
  }
}

TEST_CASE("every kind of lock guards its lines where stores wait in a buffer", "[lock use][property]") {
  for (const std::string& kind : lock_registry().names()) {
    for (const int threads : {2, 7}) {
      for (const Duration delay : {0_ns, 80_ns, 500_ns}) {
        const auto* const operation = GENERATE("lock", "execute");
        CAPTURE(kind, threads, delay.count(), operation);
        PointConfig config = point_of(operation, threads);
        config.workload.lock_use.lock = kind;
        config.workload.lock_use.delay = delay;
        config.workload.lock_use.placement = "spread";
        config.machine.noise = 5_ns;
        config.machine.futex.yield_call = 200_ns;
        config.machine.cache.home_order = true;
        config.machine.cache.store_buffer = true;
        const PointResult result = simulate(config, {}); // throws if a line lost an increment
        CHECK(result.workload.operations == threads * 200);
      }
    }
  }
}

TEST_CASE("a line of one's own stays unless somebody else runs the section", "[lock use][oracle]") {
  const auto with_line = [](const char* operation, int threads) {
    PointConfig config = point_of(operation, threads);
    LockUseParameters& workload = config.workload.lock_use;
    workload.lock = "distributed-mutex";
    workload.stop = "each";
    const Duration without = simulate(config, {}).workload.elapsed;
    workload.own_line = true;
    return std::pair{simulate(config, {}).workload.elapsed - without, workload.acquisitions};
  };
  const auto cache = point_of("lock", 1).machine.cache;
  for (const char* operation : {"lock", "execute"}) {
    const auto [more, times] = with_line(operation, 1);
    CHECK(more == times * 2 * cache.hit);
  }
  const auto [more, times] = with_line("execute", 7);
  CHECK(2 * more > 7 * times * cache.transfer_socket); // many are run by others
}

TEST_CASE("the thread that a lock brings along needs a core", "[lock use]") {
  PointConfig config = point_of("execute", 7);
  config.workload.lock_use.lock = "flat-combining";
  CHECK(simulate(config, {}).workload.locks->delegated > 0);
  config.workload.lock_use.threads = config.machine.topology.hardware_threads();
  CHECK_THROWS_WITH(simulate(config, {}), Catch::Contains("no core is left for the thread that lock 0 brings along"));
  config.workload.lock_use.operation = "lock"; // nothing is handed to the lock
  CHECK_NOTHROW(simulate(config, {}));
}

TEST_CASE("a thread that is back before its release is visible has the lock again", "[lock use]") {
  const auto hand_overs = [](const char* kind, Duration delay) {
    PointConfig config = point_of("lock", 6);
    config.workload.lock_use.lock = kind;
    config.workload.lock_use.delay = delay;
    config.machine.cache.home_order = true;
    config.machine.cache.snoop_share = 0.3;
    config.machine.cache.store_buffer = true;
    return simulate(config, {}).workload.locks->hand_overs;
  };
  CHECK(hand_overs("ttas-eager", 0_ns) * 5 < hand_overs("ttas-eager", 5_us));
  CHECK(hand_overs("ttas-eager", 0_ns) * 5 < hand_overs("tas-bit", 0_ns)); // it gives back by an atomic operation
}

TEST_CASE("threads that have a lock each do not meet", "[lock use]") {
  PointConfig config = point_of("lock", 8);
  config.workload.lock_use.lock = "ttas";
  config.workload.lock_use.locks = 8;
  const PointResult alone = simulate(config, {});
  config.workload.lock_use.locks = 1;
  const PointResult shared = simulate(config, {});
  CHECK(alone.workload.locks->hand_overs == 0);
  CHECK(shared.workload.locks->hand_overs > 0);
  CHECK(alone.workload.elapsed * 10 < shared.workload.elapsed);
}

TEST_CASE("compare-and-swap fails where fetch-and-add does not", "[lock use]") {
  const PointResult add = simulate(point_of("fetch-and-add", 4), {});
  const PointResult swap = simulate(point_of("compare-and-swap", 4), {});
  CHECK(add.workload.locks->refused == 0);
  CHECK(swap.workload.locks->refused > 0);
  CHECK(swap.workload.elapsed > 2 * add.workload.elapsed);
}

TEST_CASE("a comparison that finds the old value again succeeds: two exclusive ors are none", "[lock use]") {
  const PointResult swap = simulate(point_of("compare-and-swap", 4), {});
  const PointResult exclusive_or = simulate(point_of("fetch-and-xor", 4), {});
  CHECK(exclusive_or.workload.locks->refused > 0);
  CHECK(exclusive_or.workload.locks->refused < swap.workload.locks->refused);
}

TEST_CASE("threads that take turns hand a line on with every operation", "[lock use]") {
  for (const auto& [threads, locks] : {std::pair{2, 1}, std::pair{5, 2}}) {
    PointConfig config = point_of("take-turns", threads);
    config.workload.lock_use.stop = "each";
    config.workload.lock_use.locks = locks;
    const PointResult turns = simulate(config, {});
    CHECK(turns.workload.locks->acquisitions_least == turns.workload.locks->acquisitions_most);
    CHECK(turns.workload.locks->hand_overs == turns.workload.operations);
    // Who waits asks for the line all the time: with three of them it comes to one whose turn it is not.
    CHECK((turns.workload.locks->refused > 0) == (threads > 2 * locks));
  }
}

TEST_CASE("a run on locks depends on seed and replication only", "[lock use]") {
  PointConfig config = point_of("lock", 5);
  config.machine.noise = 3_ns;
  SimulationOptions options;
  options.hash_steps = true;
  const auto hash = [&](int replication) {
    options.replication = replication;
    return simulate(config, options).step_hash;
  };
  CHECK(hash(0) == hash(0));
  CHECK(hash(0) != hash(1));
}

namespace {

/// 7 threads on 3 cores of a machine with a fair scheduler.
PointConfig oversubscribed(const std::string& kind, const std::string& threads) {
  PointConfig config = point_of("lock", 7);
  config.placement.threads = threads;
  config.placement.cores = 3;
  config.machine.noise = 5_ns;
  config.machine.futex.yield_call = 400_ns;
  SchedulerParameters& scheduler = config.machine.scheduler;
  scheduler.policy = "cfs";
  scheduler.latency = 600_us;
  scheduler.slice = 75_us;
  scheduler.context_switch = 1_us;
  scheduler.balance_period = 1_ms;
  config.workload.lock_use.lock = kind;
  config.workload.lock_use.section = 200_ns;
  config.workload.lock_use.delay = 1_us;
  return config;
}

} // namespace

TEST_CASE("every kind of lock guards its lines where threads share cores", "[lock use][scheduler][property]") {
  for (const std::string& kind : lock_registry().names()) {
    for (const char* threads : {"pinned", "floating"}) {
      CAPTURE(kind, threads);
      const PointResult result = simulate(oversubscribed(kind, threads), {}); // throws if a line lost an increment
      CHECK(result.workload.operations == 7 * 200);
      REQUIRE(result.scheduling);
      const bool yields = kind.find("yield") != std::string::npos || kind == "parking-lot" || kind == "shared-mutex";
      CHECK((result.scheduling->yields > 0) == yields);
    }
  }
}

TEST_CASE("a fair spin lock needs its waiters to yield where threads share cores", "[lock use][scheduler]") {
  const Duration spins = per_operation(oversubscribed("ticket", "pinned"));
  const Duration yields = per_operation(oversubscribed("ticket-yield", "pinned"));
  CHECK(spins > 5 * yields);
}

TEST_CASE("a lock whose spinners take naps frees their cores meanwhile", "[lock use][scheduler]") {
  PointConfig config = oversubscribed("ttas", "pinned");
  const PointResult spins = simulate(config, {});
  config.machine.locks.nap_after = 20;
  config.machine.locks.nap = 50_us;
  const PointResult naps = simulate(config, {});
  CHECK(spins.scheduling->wakeups == 0);
  CHECK(naps.scheduling->wakeups > 0);
}

TEST_CASE("a trial ends with the first batch that ends after its time", "[lock use]") {
  PointConfig config = point_of("fetch-and-add", 3);
  LockUseParameters& workload = config.workload.lock_use;
  workload.locks = 3;
  workload.stop = "trial";
  workload.warmup_acquisitions = 0;
  workload.acquisitions = 50;
  workload.trial = 20_us;
  const PointResult result = simulate(config, {});
  const Duration operation = config.machine.cache.atomic_hit;
  REQUIRE(result.workload.locks);
  const LockUseStatistics& use = *result.workload.locks;
  for (const std::int64_t count : {use.acquisitions_least, use.acquisitions_most}) {
    CHECK(count % 50 == 0);
    CHECK(operation * count >= 20_us - 1_us); // threads start within some tenths of a microsecond
    CHECK(operation * (count - 50) < 20_us);
  }
  CHECK(result.workload.operations == std::llround(use.acquisitions_mean * 3));
  const Duration mean = Duration::picoseconds(operation.count() * result.workload.operations / 3);
  CHECK(result.workload.elapsed >= mean); // each thread's own time, and its first touch of the line
  CHECK(result.workload.elapsed <= mean + config.machine.cache.l3_hit);
}

TEST_CASE("a trial begins when the threads are released", "[lock use]") {
  const auto elapsed = [](Duration rest) {
    PointConfig config = point_of("fetch-and-add", 3);
    LockUseParameters& workload = config.workload.lock_use;
    workload.stop = "trial";
    workload.begin = "released";
    workload.warmup_acquisitions = 0;
    workload.acquisitions = 50;
    workload.trial = 20_us;
    workload.rest = rest;
    return simulate(config, {}).workload.elapsed;
  };
  CHECK(elapsed(15_us) > 15_us); // of the 20; waking the threads takes some of them
}

TEST_CASE("threads that share a core take turns within a trial", "[lock use][scheduler]") {
  PointConfig config = oversubscribed("ticket", "pinned");
  LockUseParameters& workload = config.workload.lock_use;
  workload.stop = "trial";
  workload.warmup_acquisitions = 0;
  workload.acquisitions = 20;
  workload.trial = 3_ms;
  const PointResult result = simulate(config, {});
  CHECK(result.workload.locks->acquisitions_least >= 20);
  CHECK(result.workload.elapsed >= 3_ms - 600_us); // the last one starts when it first has its core
}

TEST_CASE("a failed comparison costs the time before the next attempt", "[lock use]") {
  PointConfig config = point_of("compare-and-swap", 1);
  const Duration alone = per_operation(config);
  config.workload.lock_use.retry = 40_ns;
  CHECK(per_operation(config) == alone); // nobody fails
  config.workload.lock_use.threads = 4;
  const PointResult slow = simulate(config, {});
  config.workload.lock_use.retry = 0_ns;
  const PointResult fast = simulate(config, {});
  CHECK(slow.workload.elapsed > fast.workload.elapsed);
}

TEST_CASE("a run of few time slices says so where threads wait for cores", "[lock use][scheduler]") {
  PointConfig config = oversubscribed("tas", "floating");
  const auto says_so = [&] {
    const std::vector<std::string> notes = simulate(config, {}).notes;
    return std::any_of(notes.begin(), notes.end(),
                       [](const std::string& note) { return note.find("time slices") != std::string::npos; });
  };
  CHECK(says_so());
  config.workload.lock_use.acquisitions = 20'000;
  CHECK_FALSE(says_so());
  config.workload.lock_use.acquisitions = 200;
  config.workload.lock_use.threads = 3; // a core each
  CHECK_FALSE(says_so());
}

TEST_CASE("a released run takes time, whoever has a core first", "[lock use][scheduler]") {
  PointConfig config = oversubscribed("ttas", "floating");
  SchedulerParameters& scheduler = config.machine.scheduler;
  scheduler.policy = "eevdf"; // woken threads take the core from the one that releases them
  scheduler.preemption = "lazy";
  scheduler.slice = 3_ms;
  scheduler.short_sleep = 50_us;
  config.placement.cores = 1;
  LockUseParameters& workload = config.workload.lock_use;
  workload.threads = GENERATE(1, 7);
  workload.begin = "released";
  workload.stop = GENERATE("together", "each");
  workload.warmup_acquisitions = 0;
  workload.acquisitions = GENERATE(1, 200); // done before the thread that releases them has a core again, or after
  for (int replication = 0; replication < 5; ++replication) {
    config.run.seed = static_cast<std::uint64_t>(replication) + 1;
    const PointResult result = simulate(config, {});
    CHECK(result.workload.elapsed > Duration{});
    CHECK(result.workload.elapsed <= result.simulated);
  }
}

TEST_CASE("threads that are released begin when the last one comes to the barrier", "[lock use][scheduler]") {
  PointConfig config = oversubscribed("ttas", "floating");
  LockUseParameters& workload = config.workload.lock_use;
  workload.begin = "released";
  workload.create = 5_us;
  workload.rest = 2_ms;
  workload.stop = "each";
  workload.warmup_acquisitions = 0;
  const PointResult result = simulate(config, {});
  CHECK(result.workload.operations == 7 * 200);
  CHECK(result.scheduling->wakeups >= 7 + 1); // all of them, and the one that rested
  CHECK(result.simulated > 7 * 5_us + 2_ms);
  CHECK(result.workload.elapsed < result.simulated - 2_ms); // neither creation nor rest counts
  CHECK(result.workload.elapsed >= 1_us * 200);             // a thread's own work
}

TEST_CASE("a result says that siblings are as fast as cores of their own", "[lock use]") {
  PointConfig config = point_of("fetch-and-add", 4);
  config.machine.topology.sockets = 1;
  config.machine.topology.cores_per_socket = 4;
  config.machine.topology.threads_per_core = 2;
  const auto notes = [&](const std::string& placement) {
    config.workload.lock_use.placement = placement;
    return simulate(config, {}).notes;
  };
  CHECK(notes("cores-first").empty());
  CHECK(notes("compact") ==
        std::vector<std::string>{
            "threads run side by side on the hardware threads of 2 cores, each as fast as on a core of "
            "its own: that they share its execution units is not modelled"});
  config.workload.lock_use.threads = 2;
  REQUIRE(notes("compact").size() == 1);
  CHECK(notes("compact").front().find(" of 1 core,") != std::string::npos);
}
