// The partitioned workload: what it measures, where that can be worked out.
#include "designs.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <string>

using namespace contend;

namespace {

constexpr double mebibyte = 1024.0 * 1024.0;

PointConfig sixteen_threads(const std::string& method, const std::string& engine) {
  PointConfig point = test::small_point();
  point.machine.topology = {2, 8, 1};
  point.machine.nic.nic_gap = 0_ns;
  point.library.instances.count = 16;
  point.library.instances.assignment = "dedicated";
  point.library.partitioned.engine = engine;
  point.route.sharing = "flows";
  point.route.bytes_per_second = 10e9;
  point.workload.kind = "partitioned";
  PartitionedParameters& workload = point.workload.partitioned;
  workload.method = method;
  workload.partitions = 16;
  workload.buffer_size_bytes = 16 << 20;
  workload.compute_time = 10_ms;
  workload.noise_pct = 4; // 0.4 ms: 4 MB
  workload.iterations = 3;
  workload.warmup_iterations = 1;
  return point;
}

std::map<std::string, double> measures(const PointConfig& point) {
  const PointResult result = simulate(point, {});
  return {result.workload.measures.begin(), result.workload.measures.end()};
}

double perceived(const PointConfig& point) { return measures(point).at("perceived_bandwidth") * mebibyte; }

} // namespace

TEST_CASE("one message after the join has the wire's bandwidth, less what surrounds it") {
  PointConfig point = sixteen_threads("single-send", "persistent");
  point.workload.partitioned.buffer_size_bytes = 256 << 20;
  const double bandwidth = perceived(point);
  CHECK(bandwidth < 10e9);
  CHECK(bandwidth > 9.9e9);
  point.workload.partitioned.noise_pct = 100; // who is late makes no difference to who has not begun
  CHECK(perceived(point) == Approx(bandwidth).epsilon(1e-3));
}

TEST_CASE("what is ready early is sent before the late partition") {
  PointConfig point = sixteen_threads("partitioned", "rma");
  for (const std::int64_t size : {std::int64_t{16} << 20, std::int64_t{64} << 20}) {
    point.workload.partitioned.buffer_size_bytes = size;
    // All but the delay's worth is left: the buffer takes size / bandwidth - delay, and some microseconds.
    const double seconds = static_cast<double>(size) / perceived(point);
    const double expected = static_cast<double>(size) / 10e9 - 0.4e-3;
    CHECK(seconds > expected);
    CHECK(seconds < expected + 50e-6);
  }
  point.workload.partitioned.buffer_size_bytes = 2 << 20; // fits into the delay: only the last partition is left
  const double seconds = static_cast<double>(2 << 20) / perceived(point);
  CHECK(seconds > static_cast<double>(2 << 16) / 10e9);
  CHECK(seconds < static_cast<double>(2 << 16) / 10e9 + 50e-6);
}

TEST_CASE("the peak of the perceived bandwidth moves with the delay") {
  for (const auto& [noise, best] : std::map<double, std::int64_t>{{4, 4}, {8, 8}, {16, 16}}) {
    PointConfig point = sixteen_threads("partitioned", "rma");
    point.workload.partitioned.noise_pct = noise;
    point.route.bytes_per_second = 11e9; // the early 15/16 of `best` MiB need 9.8e9
    double peak = 0;
    std::int64_t at = 0;
    for (std::int64_t size = 1; size <= 64; size *= 2) {
      point.workload.partitioned.buffer_size_bytes = size << 20;
      if (const double bandwidth = perceived(point); bandwidth > peak) {
        peak = bandwidth;
        at = size;
      }
    }
    CAPTURE(noise);
    CHECK(at == best);
  }
}

TEST_CASE("a receiver that looks has the early partitions to work on") {
  for (const char* engine : {"persistent", "rma", "aggregating"}) {
    CAPTURE(engine);
    PointConfig point = sixteen_threads("partitioned", engine);
    point.workload.partitioned.receive_partitions = 16;
    point.workload.partitioned.receiver_polls = true;
    point.workload.partitioned.buffer_size_bytes = 16 * 4096; // eager
    const std::map<std::string, double> small = measures(point);
    // From the first partitions to the end is nearly the delay, and the communication itself takes microseconds.
    CHECK(small.at("extra_compute_time_s") > 0.3e-3);
    CHECK(small.at("extra_compute_time_s") < 0.45e-3);
    CHECK(small.at("communication_time_s") < 0.03e-3);
  }
}

TEST_CASE("what finds the mailbox full waits for the sender's progress") {
  PointConfig point = sixteen_threads("partitioned", "persistent");
  point.library.instances.count = 1;
  point.workload.partitioned.buffer_size_bytes = 2 << 20; // would fit into the delay
  const double free = perceived(point);
  point.library.protocol.pending_order = "behind-others";
  point.library.flow_control.kind = "mailbox";
  point.library.flow_control.mailbox = {32, 1};
  CHECK(perceived(point) == Approx(free).epsilon(0.1)); // room for all of them
  point.library.flow_control.mailbox = {4, 4};
  const double held = perceived(point);
  CHECK(held < 0.7 * free);
  // Not even all in one piece after the delay: four at most have gone.
  CHECK(static_cast<double>(2 << 20) / held > 0.5 * static_cast<double>(2 << 20) / 10e9);
}

TEST_CASE("threads that come one by one do not find the mailbox full") {
  PointConfig point = sixteen_threads("partitioned", "persistent");
  point.library.instances.count = 1;
  point.library.protocol.pending_order = "behind-others";
  point.library.flow_control.kind = "mailbox";
  point.library.flow_control.mailbox = {4, 1};
  point.workload.partitioned.buffer_size_bytes = 2 << 20;
  const auto delayed = [&] { return simulate(point, {}).sender.delayed_sends; };
  const auto together = delayed();
  CHECK(together > 0);
  point.workload.partitioned.compute_jitter = 1_ms;
  CHECK(delayed() < together / 4);
}

TEST_CASE("the time of an iteration is the threads' time") {
  const PointConfig point = sixteen_threads("partitioned", "rma");
  const PointResult result = simulate(point, {});
  const auto compute = static_cast<std::size_t>(Category::compute);
  const Duration computed = result.workload.times[static_cast<std::size_t>(Role::sender)][compute];
  CHECK(computed == 3 * (16 * 10_ms + 400_us));
  CHECK(result.workload.bytes == 3 * (std::int64_t{16} << 20));
  CHECK(result.workload.threads[0] == 16);
  CHECK(result.workload.threads[1] == 1);
}

TEST_CASE("the median of an iteration's time leaves out the slow ones") {
  PointConfig point = sixteen_threads("single-send", "persistent");
  point.workload.partitioned.iterations = 5;
  const double mean = perceived(point);
  point.workload.partitioned.statistic = "median";
  CHECK(perceived(point) == Approx(mean).epsilon(0.02)); // all iterations are alike
  point.workload.partitioned.iterations = 4;
  CHECK(perceived(point) == Approx(mean).epsilon(0.02));
  // The first transfer registers its buffer, which the others find registered.
  point.machine.nic.registration = 10_ms;
  point.library.protocol.registration_cache = true;
  point.workload.partitioned.warmup_iterations = 0;
  CHECK(perceived(point) == Approx(mean).epsilon(0.05));
  point.workload.partitioned.statistic = "mean";
  CHECK(perceived(point) < 0.5 * mean);
}

TEST_CASE("without company on its core a thread computes by the clock as long as by work") {
  for (const char* engine : {"persistent", "rma", "whole-buffer"}) {
    CAPTURE(engine);
    PointConfig point = sixteen_threads("partitioned", engine);
    const std::map<std::string, double> work = measures(point);
    point.workload.partitioned.compute_until = "clock";
    CHECK(measures(point) == work);
  }
}

TEST_CASE("threads that share a core compute at the same time by the clock, and in turns by work") {
  const auto iteration = [](const char* until) {
    PointConfig point = sixteen_threads("single-send", "persistent");
    point.machine.topology = {1, 4, 1};
    point.machine.scheduler.latency = 4_ms;
    point.machine.scheduler.slice = 1_ms;
    point.placement.threads = "pinned";
    point.workload.partitioned.compute_time = 40_ms; // of many slices
    point.workload.partitioned.compute_until = until;
    point.workload.partitioned.fork = "sleep";
    return simulate(point, {}).workload.elapsed;
  };
  CHECK(iteration("work") > 3 * 4 * 40_ms); // four threads a core, three iterations
  CHECK(iteration("clock") < 3 * 2 * 40_ms);
}

TEST_CASE("the design that waits for all partitions gains nothing by who is early") {
  PointConfig point = sixteen_threads("partitioned", "whole-buffer");
  const double whole = perceived(point);
  point.workload.partitioned.method = "single-send";
  CHECK(whole == Approx(perceived(point)).epsilon(0.02));
  point.workload.partitioned.method = "partitioned";
  point.workload.partitioned.receiver_starts =
      "after"; // its leave is taken from the interface by the thread that waits
  CHECK(perceived(point) == Approx(whole).epsilon(0.02));
}

TEST_CASE("persistent messages travel as others do, and their requests are made once") {
  PointConfig point = sixteen_threads("multi-send", "persistent");
  const double each = perceived(point);
  point.workload.partitioned.method = "persistent";
  CHECK(perceived(point) == Approx(each).epsilon(0.02));
  point.machine.software.request_allocate = 1_ms; // of receives: sixteen before each of the later iterations
  const Duration once = simulate(point, {}).workload.elapsed;
  point.workload.partitioned.method = "multi-send";
  CHECK(simulate(point, {}).workload.elapsed > once + 2 * 15 * 1_ms);
}

TEST_CASE("watching partitions, flows and neighbours changes nothing") {
  for (const test::Design& design : test::more_designs()) {
    CAPTURE(design.name);
    SimulationOptions options;
    options.hash_steps = true;
    const PointResult plain = simulate(design.config, options);
    options.explain = true;
    const PointResult watched = simulate(design.config, options);
    CHECK(watched.step_hash == plain.step_hash);
    CHECK(watched.workload.measures == plain.workload.measures);
  }
}
