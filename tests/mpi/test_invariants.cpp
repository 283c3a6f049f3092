// What every run must satisfy, over random designs, loads and queue sizes.
#include "simulation/simulation.hpp"
#include "support/observe.hpp"
#include "support/random_point.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

using namespace contend;

TEST_CASE("random designs: everything sent is matched and completed, and nothing is left", "[mpi][property]") {
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    const PointConfig point = test::random_point(seed);
    CAPTURE(seed, test::describe(point));
    const test::Observation run = test::observe(point, seed); // throws on deadlock and on missing messages
    REQUIRE(run.monotone);
    REQUIRE(run.accounts_add_up);

    const std::int64_t data = std::int64_t{point.workload.multirate.pairs} * point.workload.multirate.window *
                              point.workload.multirate.iterations;
    const std::int64_t handshakes =
        std::int64_t{2} * point.workload.multirate.pairs * point.workload.multirate.iterations; // ready, ack
    const test::Totals all(run);
    REQUIRE(all.left_in_queues == 0);
    for (const SpcCounters& rank : run.counters) {
      REQUIRE(rank.oos_in_queue_max <= rank.out_of_sequence);
      REQUIRE(rank.unexpected_in_queue_max <= rank.unexpected);
      REQUIRE(rank.delayed_sends <=
              rank.sent + 64 * point.workload.multirate.iterations); // barriers' messages may be delayed
      if (point.workload.multirate.allow_overtaking) {
        REQUIRE(rank.out_of_sequence == 0);
      }
    }
    REQUIRE(all.sent == data + handshakes);
    REQUIRE(all.posted == data + handshakes);
    REQUIRE(run.result.operations == data);
    REQUIRE(run.result.elapsed > Duration{});
  }
}

TEST_CASE("random designs: every message counts as received, expected or not", "[mpi][property]") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const PointConfig point = test::random_point(seed);
    CAPTURE(seed, test::describe(point));
    const test::Observation run = test::observe(point, seed);
    const test::Totals all(run);
    REQUIRE(all.received == all.sent);
  }
}

TEST_CASE("random designs: the same seed takes the same steps, another one does not", "[mpi][property]") {
  int different = 0;
  constexpr int runs = 40;
  for (std::uint64_t seed = 1'001; seed <= 1'000 + runs; ++seed) {
    PointConfig point = test::random_point(seed);
    test::add_jitter(point);
    CAPTURE(seed, test::describe(point));
    const test::Observation first = test::observe(point, 5);
    const test::Observation second = test::observe(point, 5);
    REQUIRE(first.hash == second.hash);
    REQUIRE(first.steps == second.steps);
    REQUIRE(first.result.elapsed == second.result.elapsed);
    REQUIRE(first.result.times == second.result.times);
    different += test::observe(point, 6).hash == first.hash ? 0 : 1;
  }
  CHECK(different == runs);
}

TEST_CASE("replications differ, and are the same every time", "[mpi]") {
  PointConfig point = test::small_point();
  test::add_jitter(point);
  SimulationOptions options;
  options.hash_steps = true;
  std::vector<std::uint64_t> hashes;
  for (int replication = 0; replication < 5; ++replication) {
    options.replication = replication;
    const PointResult first = simulate(point, options);
    const PointResult second = simulate(point, options);
    CHECK(first.step_hash == second.step_hash);
    CHECK(first.simulated == second.simulated);
    CHECK(first.workload.elapsed == second.workload.elapsed);
    CHECK(std::find(hashes.begin(), hashes.end(), first.step_hash) == hashes.end());
    hashes.push_back(first.step_hash);
  }
}

TEST_CASE("simulate() reports what its world did", "[mpi]") {
  PointConfig point = test::small_point();
  SimulationOptions options;
  options.hash_steps = true;
  const PointResult result = simulate(point, options);
  const std::int64_t iterations = point.workload.multirate.iterations + point.workload.multirate.warmup_iterations;
  CHECK(result.sender.sent == point.workload.multirate.pairs * point.workload.multirate.window * iterations);
  CHECK(result.receiver.sent == 2 * point.workload.multirate.pairs * iterations);
  CHECK(result.workload.threads[0] == point.workload.multirate.pairs);
  CHECK(result.workload.threads[1] == point.workload.multirate.pairs);
  CHECK(result.simulated >= result.workload.elapsed);
  CHECK(result.steps > 0);
  CHECK(result.step_hash != 0);
  options.hash_steps = false;
  CHECK(simulate(point, options).step_hash == 0);
}

TEST_CASE("a run that may not take more steps says so", "[mpi]") {
  SimulationOptions options;
  options.step_limit = 5'000;
  CHECK_THROWS_AS(simulate(test::small_point(), options), StepLimit);
  const std::atomic<bool> stop{true};
  options.step_limit = ~std::uint64_t{0};
  options.stop = &stop;
  CHECK_THROWS_AS(simulate(test::small_point(), options), Stopped);
}
