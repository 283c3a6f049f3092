// Runs on hosts some of whose cores are slow: where none differs nothing changes, and which ones differ is drawn for each
// replication.
#include "designs.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <vector>

using namespace contend;

namespace {

PointResult watched_steps(const PointConfig& config, int replication = 0) {
  SimulationOptions options;
  options.hash_steps = true;
  options.replication = replication;
  return simulate(config, options);
}

void check_same(const PointResult& one, const PointResult& other) {
  CHECK(one.step_hash == other.step_hash);
  CHECK(one.steps == other.steps);
  CHECK(one.simulated == other.simulated);
  CHECK(one.workload.elapsed == other.workload.elapsed);
  CHECK(one.workload.times == other.workload.times);
  CHECK(one.workload.measures == other.workload.measures);
  CHECK(one.more_counters == other.more_counters);
}

/// Nothing is drawn but which cores are slow.
PointConfig strict_point() {
  PointConfig point = test::small_point();
  point.machine.noise = {};
  point.machine.futex.call_jitter = {};
  point.machine.futex.wake_jitter = {};
  point.workload.multirate.mode = "process";
  point.workload.multirate.pairs = 1;
  return point;
}

} // namespace

TEST_CASE("where all cores are alike, slow ones change nothing", "[slow cores]") {
  for (const test::Design& design : test::all_designs()) {
    const PointResult plain = watched_steps(design.config);
    // With a share of 1 prices are those of slow cores, since they are means.
    for (const SlowCoreParameters& alike : {SlowCoreParameters{0.0, 3.0}, {0.5, 1.0}, {1.0, 1.45}, {1.0, 49.0}}) {
      CAPTURE(design.name, alike.share, alike.slowdown);
      PointConfig config = design.config;
      config.machine.slow_cores = alike;
      check_same(watched_steps(config), plain);
    }
  }
}

TEST_CASE("the same seed has the same cores slow", "[slow cores]") {
  for (const test::Design& design : test::small_designs()) {
    CAPTURE(design.name);
    PointConfig config = design.config;
    config.machine.slow_cores = {0.5, 1.45};
    const PointResult once = watched_steps(config);
    check_same(watched_steps(config), once);
    CHECK(once.step_hash != watched_steps(design.config).step_hash);
  }
}

TEST_CASE("each replication draws its own slow cores, on each host", "[slow cores]") {
  const auto times = [](const SlowCoreParameters& slow_cores) {
    PointConfig point = strict_point();
    point.machine.slow_cores = slow_cores;
    std::set<Duration> different;
    for (int replication = 0; replication < 40; ++replication) {
      different.insert(watched_steps(point, replication).workload.elapsed);
    }
    return different;
  };
  CHECK(times({}).size() == 1);
  // Sender and receiver are each quick or slow.
  const std::set<Duration> different = times({0.5, 2.0});
  CHECK(different.size() == 4);
  const double spread = different.rbegin()->in_seconds() / different.begin()->in_seconds();
  CHECK(spread > 1.1);
  CHECK(spread < 2.0);
  CHECK(different.begin()->in_seconds() < times({}).begin()->in_seconds());
  CHECK(different.rbegin()->in_seconds() > times({}).begin()->in_seconds());
}

TEST_CASE("watching a run on slow cores changes nothing", "[slow cores]") {
  for (const test::Design& design : test::all_designs()) {
    CAPTURE(design.name);
    PointConfig config = design.config;
    config.machine.slow_cores = {0.5, 1.45};
    SimulationOptions options;
    options.hash_steps = true;
    const PointResult plain = simulate(config, options);
    options.explain = true;
    check_same(simulate(config, options), plain);
  }
}

TEST_CASE("times that a workload prescribes are the same on slow cores", "[slow cores]") {
  PointConfig point = test::small_point();
  point.workload.kind = "partitioned";
  point.workload.partitioned.partitions = 4;
  point.workload.partitioned.compute_time = 100_us;
  point.workload.partitioned.noise_pct = 0;
  point.workload.partitioned.iterations = 3;
  const auto computed = [](const PointConfig& config) {
    return watched_steps(config)
        .workload.times[static_cast<std::size_t>(Role::sender)][static_cast<std::size_t>(Category::compute)];
  };
  for (const char* const until : {"work", "clock"}) {
    CAPTURE(until);
    point.workload.partitioned.compute_until = until;
    point.machine.slow_cores = {0.5, 5.0};
    CHECK(computed(point) == 3 * 4 * 100_us);
  }
}
