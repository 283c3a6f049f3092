// Every price can be found, and lowered no further than scenarios allow.
#include "scenario/costs.hpp"
#include "support.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <stdexcept>

using namespace contend;

TEST_CASE("prices are the times and rates of machine and route", "[costs]") {
  PointConfig point;
  point.machine.nic.post = Duration::nanoseconds(50);
  const std::vector<Cost> costs = costs_of(point);
  const auto find = [&](const std::string& path) {
    return std::find_if(costs.begin(), costs.end(), [&](const Cost& cost) { return cost.path == path; });
  };
  REQUIRE(find("machine.nic.post") != costs.end());
  CHECK(find("machine.nic.post")->value == "50 ns");
  CHECK_FALSE(find("machine.nic.post")->free);
  CHECK(find("machine.nic.doorbell")->free);
  CHECK(find("fabric.latency") != costs.end());
  CHECK(find("fabric.bandwidth") != costs.end());
  CHECK(find("machine.nic.poll_batch") == costs.end());
  CHECK(find("workload.message_size") == costs.end());
}

TEST_CASE("what switching costs is a price where threads share cores", "[costs]") {
  PointConfig point;
  const auto has = [&](const std::string& path) {
    const std::vector<Cost> costs = costs_of(point);
    return std::any_of(costs.begin(), costs.end(), [&](const Cost& cost) { return cost.path == path; });
  };
  CHECK_FALSE(has("machine.scheduler.context_switch"));
  point.placement.threads = "floating";
  CHECK(has("machine.scheduler.context_switch"));
  CHECK_FALSE(has("machine.scheduler.slice")); // when, not how much
  CHECK_THROWS_AS(scale_cost(point, "machine.scheduler.slice", 0.5), std::invalid_argument);
}

TEST_CASE("a price that is another one's where it is 0 does not become that", "[costs]") {
  PointConfig point;
  const auto price = [&](std::string_view path) {
    const std::vector<Cost> costs = costs_of(point);
    return std::find_if(costs.begin(), costs.end(), [&](const Cost& cost) { return cost.path == path; })->value;
  };
  point.machine.cache.atomic_arrival = point.machine.cache.compare_hit = Duration::nanoseconds(11);
  point.machine.futex.vain_call = point.machine.futex.bucket_turn = Duration::nanoseconds(300);
  point.machine.futex.yield_call = point.machine.futex.shallow_latency = Duration::nanoseconds(300);
  point.machine.matching.distant_element = Duration::nanoseconds(20);
  for (const char* const path : {"machine.cache.atomic_arrival", "machine.cache.compare_hit", "machine.futex.vain_call",
                                 "machine.futex.bucket_turn", "machine.futex.yield_call",
                                 "machine.futex.shallow_latency", "machine.matching.distant_element"}) {
    CAPTURE(path);
    CHECK_FALSE(scale_cost(point, path, 0.0));
    CHECK(price(path) == "1 ps");
  }
  point.machine.cache.atomic_arrival = Duration{};
  CHECK_FALSE(scale_cost(point, "machine.cache.atomic_arrival", 0.5));
  CHECK(point.machine.cache.atomic_arrival == Duration{}); // still another's
}

TEST_CASE("what says when something is done is no price", "[costs]") {
  PointConfig point;
  point.placement.threads = "floating";
  for (const char* const path : {"machine.scheduler.short_sleep", "machine.futex.deep_after", "machine.locks.nap",
                                 "machine.locks.backoff_minimum", "machine.locks.backoff_maximum"}) {
    CHECK_THROWS_AS(scale_cost(point, path, 0.5), std::invalid_argument);
  }
}

TEST_CASE("what prices of a library contain is a price of what programs compute only", "[costs]") {
  PointConfig point;
  const auto has = [&](const std::string& path) {
    const std::vector<Cost> costs = costs_of(point);
    return std::any_of(costs.begin(), costs.end(), [&](const Cost& cost) { return cost.path == path; });
  };
  point.workload.kind = GENERATE("multirate", "waiting", "matrix-product");
  CHECK(has("machine.cache.l2_hit") == (point.workload.kind == "matrix-product"));
  CHECK(has("machine.cache.l3_hit"));
}

TEST_CASE("a price is scaled, or as low as allowed", "[costs]") {
  PointConfig point;
  point.machine.nic.post = Duration::nanoseconds(50);
  point.machine.nic.empty_poll = Duration::nanoseconds(25);
  point.route.bytes_per_second = 1e9;
  CHECK_FALSE(scale_cost(point, "machine.nic.post", 0.5));
  CHECK(point.machine.nic.post == Duration::nanoseconds(25));
  CHECK_FALSE(scale_cost(point, "machine.nic.post", 0.0));
  CHECK(point.machine.nic.post == Duration{});
  CHECK(scale_cost(point, "machine.nic.empty_poll", 0.0)); // must stay positive
  CHECK(point.machine.nic.empty_poll == Duration::picoseconds(1));
  CHECK_FALSE(scale_cost(point, "fabric.bandwidth", 0.5)); // half the price is twice the rate
  CHECK(point.route.bytes_per_second == 2e9);
  CHECK(scale_cost(point, "fabric.bandwidth", 0.0));
  for (const Cost& cost : costs_of(point)) {
    if (cost.path == "fabric.bandwidth" || cost.path == "machine.nic.empty_poll") {
      CHECK(cost.free);
    }
  }
  CHECK_THROWS_AS(scale_cost(point, "machine.nic.poll_batch", 0.5), std::invalid_argument);
  CHECK_THROWS_AS(scale_cost(point, "machine.nothing", 0.5), std::invalid_argument);
}
