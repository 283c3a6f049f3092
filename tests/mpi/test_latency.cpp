// The latency workload: the loop of osu_latency_mt, and what its number means.
#include "simulation/simulation.hpp"
#include "support/observe.hpp"
#include "support/program.hpp"
#include "support/random_point.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <string>

using namespace contend;

namespace {

PointConfig latency_point(int senders, int receivers) {
  PointConfig point = test::small_point();
  point.workload.kind = "latency";
  point.workload.latency = {senders, receivers, 8, 60, 12, "senders"};
  return point;
}

double latency(const PointResult& result) {
  REQUIRE(result.workload.measures.size() == 1);
  REQUIRE(result.workload.measures.front().first == "latency");
  return result.workload.measures.front().second;
}

double latency(const PointConfig& point) { return latency(simulate(point, {})); }

} // namespace

TEST_CASE("latency of one thread each is half of a round trip", "[mpi][latency][oracle]") {
  PointConfig point = latency_point(1, 1);
  point.machine.noise = Duration{};
  const LatencyParameters& workload = point.workload.latency;
  test::Program program(2, point);
  const int comm = program.communicator;
  const std::int64_t bytes = workload.message_size_bytes;
  TimePoint start;
  TimePoint end;
  program.thread(0, [&](SimThread& self, Process& mpi) {
    for (int i = 0; i < workload.warmup_iterations + workload.iterations; ++i) {
      start = i == workload.warmup_iterations ? self.now() : start;
      mpi.send(self, comm, 1, 1, bytes);
      mpi.recv(self, comm, 1, 2, bytes);
    }
    end = self.now();
  });
  program.thread(1, [&](SimThread& self, Process& mpi) {
    for (int i = 0; i < workload.warmup_iterations + workload.iterations; ++i) {
      mpi.recv(self, comm, 0, 1, bytes);
      mpi.send(self, comm, 0, 2, bytes);
    }
  });
  program.run();
  const double by_hand = (end - start).in_seconds() / (2 * workload.iterations);
  // Where a poll of the receiver is when the first message comes depends on what was before.
  CHECK(latency(point) == Approx(by_hand).epsilon(0.01));
  CHECK(by_hand > point.route.latency.in_seconds());
}

TEST_CASE("a process that is timed by itself is timed from when all have met", "[mpi][latency][oracle]") {
  PointConfig point = latency_point(1, 1);
  point.machine.noise = Duration{};
  point.route.latency = 20_us; // who leaves a barrier of two processes first leaves it about so much earlier
  point.workload.latency.iterations = 2;
  point.workload.latency.timing = "slowest-process";
  const LatencyParameters& workload = point.workload.latency;
  test::Program program(2, point);
  const int comm = program.communicator;
  const std::int64_t bytes = workload.message_size_bytes;
  std::array<Duration, 2> took;
  TimePoint ended;
  for (const int rank : {0, 1}) {
    program.thread(rank, [&, rank](SimThread& self, Process& mpi) {
      TimePoint start;
      mpi.barrier(self, comm);
      for (int i = 0; i < workload.warmup_iterations + workload.iterations; ++i) {
        if (i == workload.warmup_iterations) {
          mpi.barrier(self, comm);
          start = self.now();
        }
        rank == 0 ? mpi.send(self, comm, 1, 1, bytes) : mpi.recv(self, comm, 0, 1, bytes);
        rank == 0 ? mpi.recv(self, comm, 1, 2, bytes) : mpi.send(self, comm, 0, 2, bytes);
      }
      took.at(static_cast<std::size_t>(rank)) = self.now() - start;
      ended = std::max(ended, self.now());
    });
  }
  program.run();
  const double by_hand = std::max(took[0], took[1]).in_seconds() / (2 * workload.iterations);
  CHECK(latency(point) == Approx(by_hand).epsilon(0.01));
  // They meet before their warm-up as well, as contend-latency's threads do.
  CHECK(simulate(point, {}).simulated.in_seconds() == Approx(ended.since_start().in_seconds()).epsilon(0.01));
}

TEST_CASE("a longer way adds what it is longer by", "[mpi][latency][oracle]") {
  PointConfig point = latency_point(1, 1);
  point.machine.noise = Duration{};
  const double near = latency(point);
  point.route.latency += 7_us;
  CHECK(latency(point) - near == Approx(7e-6).epsilon(0.01));
}

TEST_CASE("latency is a sender's: the rate times it is half the number of senders", "[mpi][latency]") {
  for (const int senders : {1, 2, 5}) {
    const PointResult result = simulate(latency_point(senders, 3), {});
    CAPTURE(senders);
    const double rate = static_cast<double>(result.workload.operations) / result.workload.elapsed.in_seconds();
    CHECK(result.workload.operations == 2 * 60);
    CHECK(rate * latency(result) == Approx(senders));
    CHECK(result.workload.threads == std::array<int, 2>{senders, 3});
  }
}

TEST_CASE("threads that wait beside the one whose message it is make latency longer", "[mpi][latency]") {
  const double alone = latency(latency_point(1, 1));
  CHECK(latency(latency_point(1, 4)) > 1.1 * alone);
  CHECK(latency(latency_point(4, 4)) > 1.5 * alone); // each of its round trips contends with three others
  CHECK(latency(latency_point(4, 4)) < 4 * alone);   // but they are under way together
}

TEST_CASE("who has no round trip of the timed part does no harm", "[mpi][latency]") {
  PointConfig point = latency_point(8, 7);
  point.workload.latency.timing = GENERATE("senders", "slowest-process");
  point.workload.latency.iterations = 3;
  point.workload.latency.warmup_iterations = 0;
  const PointResult result = simulate(point, {});
  CHECK(result.workload.operations == 6);
  CHECK(latency(result) > 0);
}

TEST_CASE("random designs answer every message", "[mpi][latency][property]") {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    PointConfig point = test::random_point(seed);
    RandomStream random(seed, "latency");
    point.workload.kind = "latency";
    point.workload.latency.senders = static_cast<int>(1 + random.below(6));
    point.workload.latency.receivers = static_cast<int>(1 + random.below(6));
    point.workload.latency.message_size_bytes = point.workload.multirate.message_size_bytes;
    point.workload.latency.iterations = static_cast<int>(1 + random.below(40));
    point.workload.latency.warmup_iterations = static_cast<int>(random.below(10));
    point.workload.latency.timing = random.below(2) == 0 ? "senders" : "slowest-process";
    point.workload.latency.any_source = point.workload.multirate.any_source;
    point.workload.latency.any_tag = point.workload.multirate.any_tag;
    CAPTURE(seed, test::describe(point), point.workload.latency.senders, point.workload.latency.receivers);
    PointResult result;
    REQUIRE_NOTHROW(result = simulate(point, {}));
    CHECK(latency(result) > point.route.latency.in_seconds());
  }
}
