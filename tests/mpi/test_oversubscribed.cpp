// The library where threads share cores: nothing is lost, nobody starves, and time is accounted for.
#include "mpi/partitioned.hpp"
#include "simulation/simulation.hpp"
#include "support/observe.hpp"
#include "support/random_point.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

using namespace contend;

namespace {

SchedulerParameters small_scheduler() {
  SchedulerParameters scheduler;
  scheduler.policy = "cfs";
  scheduler.latency = 600'011_ns;
  scheduler.slice = 75'017_ns;
  scheduler.wakeup_granularity = 100'003_ns;
  scheduler.context_switch = 1'303_ns;
  scheduler.process_switch = 409_ns;
  scheduler.cache_refill = 2'003_ns;
  scheduler.cache_hot = 50'021_ns;
  scheduler.balance_period = 401'003_ns;
  scheduler.switch_jitter = 151_ns;
  return scheduler;
}

/// 4 pairs on two cores a host.
PointConfig shared_point() {
  PointConfig point = test::small_point();
  point.machine.scheduler = small_scheduler();
  point.placement.threads = "floating";
  point.placement.cores = 2;
  return point;
}

double rate(const PointResult& result) {
  return static_cast<double>(result.workload.operations) / result.workload.elapsed.in_seconds();
}

Duration spent(const PointResult& result, Category category) {
  Duration sum;
  for (const SimThread::Times& times : result.workload.times) {
    sum += times[static_cast<std::size_t>(category)];
  }
  return sum;
}

} // namespace

TEST_CASE("a long copy loses its core like any computation", "[mpi][scheduler]") {
  PointConfig point = shared_point();
  point.library.protocol.eager_limit_bytes = 1 << 30;
  point.machine.software.copy_bytes_per_second = 1e9;
  point.workload.multirate.pairs = 2;
  point.placement.cores = 1;
  point.workload.multirate.window = 1;
  point.workload.multirate.iterations = 2;
  point.workload.multirate.message_size_bytes = 5'000'000; // 5 ms: dozens of slices
  const PointResult result = simulate(point, {});
  CHECK(spent(result, Category::copy) >= Duration::microseconds(5000) * (2 * 2 * 2));
  CHECK(spent(result, Category::context_switch) > 300_us);
}

TEST_CASE("random designs on shared cores lose nothing", "[mpi][scheduler][property]") {
  const std::array<std::string, 3> placements{"pinned", "pinned-by-process", "floating"};
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    PointConfig point = test::random_point(seed);
    RandomStream random(seed, "placement");
    point.machine.scheduler = small_scheduler();
    point.machine.scheduler.policy = random.below(2) == 0 ? "cfs" : "eevdf";
    if (random.below(2) == 0) {
      point.machine.scheduler.tick = 100'003_ns;
      point.machine.scheduler.tick_cost = 1'009_ns;
    }
    point.placement.threads = placements[random.below(placements.size())];
    point.placement.cores = static_cast<int>(random.below(3)) + 1;
    point.placement.hosts = static_cast<int>(random.below(2)) + 1;
    point.library.progress.yield_when_idle = random.below(2) == 0;
    CAPTURE(seed, test::describe(point), point.placement.threads, point.placement.cores, point.placement.hosts);
    const test::Observation run = test::observe(point, seed, 60'000'000); // throws on deadlock and on missing messages
    REQUIRE(run.monotone);
    REQUIRE(run.accounts_add_up);
    for (const SpcCounters& rank : run.counters) {
      REQUIRE(rank.oos_in_queue == 0);
      REQUIRE(rank.unexpected_in_queue == 0);
    }
    REQUIRE(run.result.elapsed > Duration{});
  }
}

TEST_CASE("every progress engine ends on one shared core", "[mpi][scheduler]") {
  for (const std::string& engine : progress_registry().names()) {
    PointConfig point = shared_point();
    point.library.progress.engine = engine;
    point.placement.cores = 1;
    point.placement.hosts = GENERATE(1, 2);
    CAPTURE(engine, point.placement.hosts);
    const PointResult result = simulate(point, {});
    CHECK(result.workload.operations == 4 * 16 * 3);
    REQUIRE(result.scheduling);
    CHECK(result.scheduling->switches > 0);
    CHECK(spent(result, Category::run_queue) > Duration{});
    CHECK(spent(result, Category::context_switch) > Duration{});
  }
}

TEST_CASE("with processes that spin for each other, each takes longer than all do from the last one's start",
          "[mpi][scheduler][multirate]") {
  PointConfig point = shared_point();
  point.workload.multirate.mode = "process";
  point.workload.multirate.pairs = 4;
  point.workload.multirate.iterations = 1;
  point.library.thread_level = "single";
  point.library.barrier = "release-gather";
  point.placement.hosts = 1;
  const bool shared = GENERATE(true, false);
  if (!shared) {
    point.placement = {};
    point.placement.hosts = 1;
  }
  const Duration together = simulate(point, {}).workload.elapsed;
  point.workload.multirate.timing = "slowest-process";
  const Duration slowest = simulate(point, {}).workload.elapsed;
  const double ratio = slowest.in_seconds() / together.in_seconds();
  CAPTURE(shared, ratio);
  // On shared cores they leave the meeting one after the other, some slices apart.
  CHECK((ratio > 1.2) == shared);
  CHECK(ratio > 0.8);
}

TEST_CASE("every workload runs on shared cores", "[mpi][scheduler]") {
  for (const std::string& kind : workload_registry().names()) {
    PointConfig point = shared_point();
    point.workload.kind = kind;
    point.workload.rma_mt.threads = 4;
    point.workload.rma_mt.operations = 20;
    point.workload.waiting.iterations = 40;
    point.workload.ping_pong.iterations = 5;
    point.workload.pack.iterations = 2;
    point.placement.cores = 1;
    CAPTURE(kind);
    const PointResult result = simulate(point, {});
    CHECK(result.workload.operations > 0);
    REQUIRE(result.scheduling);
  }
}

TEST_CASE("partitions and neighbours share cores, on one host or several", "[mpi][scheduler]") {
  PointConfig point = shared_point();
  point.placement.hosts = GENERATE(1, 2);
  point.placement.threads = GENERATE("pinned", "pinned-by-process", "floating");
  CAPTURE(point.placement.hosts, point.placement.threads);
  point.workload.kind = "partitioned";
  point.workload.partitioned.iterations = 2;
  point.workload.partitioned.compute_time = 200_us;
  for (const std::string& engine : partitioned_registry().names()) {
    for (const bool polls : {false, true}) {
      CAPTURE(engine, polls);
      point.library.partitioned.engine = engine;
      point.workload.partitioned.receiver_polls = polls;
      const PointResult result = simulate(point, {});
      CHECK(result.workload.operations == 4 * 2);
      CHECK(spent(result, Category::run_queue) > Duration{});
    }
  }
  point.workload.kind = "neighbour";
  point.workload.neighbour.threads = 3;
  point.workload.neighbour.iterations = 4;
  for (const char* interface : {"mpi", "active-messages"}) {
    CAPTURE(interface);
    point.workload.neighbour.interface = interface;
    CHECK(simulate(point, {}).workload.operations == 3 * 12 * 4);
  }
}

TEST_CASE("the same seed takes the same steps on shared cores", "[mpi][scheduler]") {
  PointConfig point = shared_point();
  test::add_jitter(point);
  point.workload.multirate.pairs = 6;
  const auto hash = [&](std::uint64_t seed) { return test::observe(point, seed).hash; };
  CHECK(hash(1) == hash(1));
  CHECK(hash(1) != hash(2));
}

TEST_CASE("with a core for each thread, bound or not, sharing changes little", "[mpi][scheduler]") {
  PointConfig point = test::small_point();
  point.machine.topology.cores_per_socket *= point.machine.topology.sockets; // floating threads spread over sockets,
  point.machine.topology.sockets = 1;                                        // others fill one first
  point.workload.multirate.iterations = 20;
  test::add_jitter(point); // in exact step, who finds a lock taken depends on which core a thread has
  const double alone = rate(simulate(point, {}));
  point.machine.scheduler = small_scheduler();
  point.placement.threads = GENERATE("pinned", "floating");
  const PointResult shared = simulate(point, {});
  CAPTURE(point.placement.threads);
  CHECK(rate(shared) == Approx(alone).epsilon(0.1));
  CHECK(spent(shared, Category::run_queue).in_seconds() <= 0.01 * shared.workload.elapsed.in_seconds());
}

TEST_CASE("fewer cores, fewer messages", "[mpi][scheduler]") {
  PointConfig point = shared_point();
  point.workload.multirate.pairs = 8;
  point.workload.multirate.iterations = 10;
  std::array<double, 3> rates{};
  for (std::size_t i = 0; i < rates.size(); ++i) {
    point.placement.cores = static_cast<int>(1U << i);
    rates[i] = rate(simulate(point, {}));
  }
  CAPTURE(rates[0], rates[1], rates[2]);
  CHECK(rates[0] < rates[2]);
}

TEST_CASE("two processes that poll on one core gain from yielding", "[mpi][scheduler]") {
  PointConfig point = shared_point();
  point.placement.cores = 1;
  point.placement.hosts = 1;
  point.workload.multirate.pairs = 1;
  const double without = rate(simulate(point, {}));
  point.library.progress.yield_when_idle = true;
  const PointResult with = simulate(point, {});
  CAPTURE(without, rate(with));
  CHECK(rate(with) > 3 * without); // whoever waits would burn its slice while the other one has something to do
  CHECK(with.scheduling->yields > 0);
}

TEST_CASE("threads of a process bound to one core all run there", "[mpi][scheduler]") {
  PointConfig point = shared_point();
  point.placement.threads = "pinned-by-process";
  point.placement.hosts = 1;
  const PointResult result = simulate(point, {});
  CHECK(result.scheduling->migrations == 0);
}

TEST_CASE("where no core is shared there is nothing to report", "[mpi][scheduler]") {
  const PointResult result = simulate(test::small_point(), {});
  CHECK_FALSE(result.scheduling);
  CHECK(spent(result, Category::run_queue) == Duration{});
  CHECK(spent(result, Category::context_switch) == Duration{});
}

TEST_CASE("sides on one host have cores of their own unless they share", "[mpi][scheduler]") {
  PointConfig point = test::small_point();
  point.placement.hosts = 1;
  const PointResult result = simulate(point, {});
  CHECK(result.workload.operations == 4 * 16 * 3);
  CHECK_FALSE(result.scheduling);
}
