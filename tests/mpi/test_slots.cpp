// Requests that are kept in flight one by one: all of them come to an end, whoever looks for them and how.
#include "simulation/simulation.hpp"
#include "support/observe.hpp"
#include "support/random_exchange.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>

using namespace contend;

namespace {

const char* const ways[] = {"test", "testany", "waitany"};

PointConfig slots_point(const std::string& completion) {
  PointConfig point = test::small_point();
  test::add_jitter(point); // threads that test in exact step can keep one of them from a lock for ever
  MultirateParameters& workload = point.workload.multirate;
  workload.completion = completion;
  workload.barrier_every_iteration = false;
  workload.window = 10;
  workload.iterations = 12;
  workload.warmup_iterations = 3;
  return point;
}

void check_all_there(const PointConfig& point, std::uint64_t seed) {
  const MultirateParameters& workload = point.workload.multirate;
  const test::Observation run = test::observe(point, seed, 40'000'000);
  const std::int64_t per_iteration = std::int64_t{workload.pairs} * workload.window;
  REQUIRE(run.result.operations == per_iteration * workload.iterations);
  const test::Totals all(run);
  REQUIRE(all.left_in_queues == 0);
  const std::int64_t planned = per_iteration * (workload.iterations + workload.warmup_iterations); // nobody answers
  REQUIRE(all.sent >= planned);
  REQUIRE(all.sent - planned < planned); // what slots that were served more seldom have left
  if (workload.window == 1) {
    REQUIRE(all.sent == planned);
  }
  REQUIRE(all.posted == all.sent);
  REQUIRE(all.received == all.sent);
}

double rate(const PointConfig& point) {
  const PointResult result = simulate(point, {});
  return static_cast<double>(result.workload.operations) / result.workload.elapsed.in_seconds();
}

} // namespace

TEST_CASE("slots: every message arrives, eager or not, whatever looks for it", "[mpi][slots]") {
  for (const char* const completion : ways) {
    for (const std::int64_t bytes : {0, 300, 70'000}) {
      for (const int window : {1, 3, 20}) {
        for (const char* const mode : {"thread", "process"}) {
          CAPTURE(completion, bytes, window, mode);
          PointConfig point = slots_point(completion);
          point.workload.multirate.message_size_bytes = bytes;
          point.workload.multirate.window = window;
          point.workload.multirate.mode = mode;
          point.workload.multirate.pairs = 3;
          check_all_there(point, 1);
        }
      }
    }
  }
}

TEST_CASE("slots: every progress engine brings what others' tags are like to whoever waits", "[mpi][slots]") {
  for (const std::string& engine : progress_registry().names()) {
    for (const char* const completion : ways) {
      for (const char* const tags : {"window", "pair"}) {
        CAPTURE(engine, completion, tags);
        PointConfig point = slots_point(completion);
        point.library.progress.engine = engine;
        point.workload.multirate.tags = tags;
        point.workload.multirate.pairs = 3;
        check_all_there(point, 2);
      }
    }
  }
}

TEST_CASE("slots: random designs lose nothing", "[mpi][slots][property]") {
  int drawn = 0;
  for (std::uint64_t seed = 7'001; seed <= 7'160; ++seed) {
    PointConfig point = test::random_exchange(seed);
    MultirateParameters& workload = point.workload.multirate;
    if (workload.pattern != "pairwise") {
      continue;
    }
    test::add_jitter(point);
    workload.completion = ways[seed % 3];
    workload.barrier_every_iteration = false;
    workload.handshake = "pair";
    CAPTURE(seed, workload.completion, test::describe_exchange(point));
    check_all_there(point, seed);
    ++drawn;
  }
  CHECK(drawn > 25);
}

TEST_CASE("slots: looking at all of them costs by their number, testing one after the other does not", "[mpi][slots]") {
  const auto slower = [](const char* completion) {
    PointConfig point = slots_point(completion);
    point.machine.waiting.handle = 10_ns;
    point.workload.multirate.iterations = 6;
    point.workload.multirate.window = 10;
    const double few = rate(point);
    point.workload.multirate.window = 1'000;
    return few / rate(point);
  };
  const double in_turn = slower("test"); // longer queues of receives
  CHECK(in_turn < 3);
  CHECK(slower("testany") > 4 * in_turn);
  CHECK(slower("waitany") > 4 * in_turn);
}

TEST_CASE("slots: a thread that need not wait for an answer sends more", "[mpi][slots]") {
  PointConfig point = slots_point("test");
  point.workload.multirate.window = 1;
  point.workload.multirate.iterations = 100;
  const double in_flight = rate(point);
  point.workload.multirate.completion = "window";
  CHECK(in_flight > 2 * rate(point));
}
