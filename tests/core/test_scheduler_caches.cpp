// What a thread refills of its caches when it gets a core again, by who had the core in the meantime.
#include "core/cache_line.hpp"
#include "core/decay.hpp"
#include "support/scheduling.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace contend;
using test::compute;
using test::in;
using test::SharedHost;

namespace {

/// A line comes from the shared cache 40 ns later than from L2, which holds four working sets of 64,000 B.
CacheParameters small_l2() {
  CacheParameters cache;
  cache.l2_bytes = 256'000;
  cache.l2_hit = 5_ns;
  cache.l3_hit = 45_ns;
  return cache;
}

} // namespace

TEST_CASE("each process that has had the core evicts its share of another one's working set", "[scheduler]") {
  SchedulerParameters parameters = test::free_scheduler("eevdf");
  parameters.working_set_bytes = 64 * 1000;
  parameters.kin_refill = 300_ns;
  parameters.refills_at_once = 5;
  const int processes = GENERATE(1, 2, 3);
  constexpr int threads = 6;
  SharedHost shared(1, parameters, 1, {}, small_l2());
  for (int i = 0; i < threads; ++i) {
    shared.spawn("t" + std::to_string(i), [](SimThread& self) { compute(self, 30_ms); }).set_process(i % processes);
  }
  shared.engine.run();
  // They take turns: between two turns of a process all others have had one. 1000 lines of 8 ns, of which (processes - 1)
  // working sets of a quarter of the cache have left e^-(processes - 1)/4.
  const auto fetched = static_cast<std::int64_t>(8e6 * (1.0 - std::exp(-0.25 * (processes - 1))));
  const Duration refill = 300_ns + Duration::picoseconds(fetched);
  const auto switches = static_cast<std::int64_t>(shared.scheduler.counters().switches);
  REQUIRE(switches > 5 * threads);
  CHECK(shared.elapsed() == 30_ms * threads + refill * (switches - (threads - 1)));
}

TEST_CASE("nobody refills for longer than it was away", "[scheduler]") {
  SchedulerParameters parameters = test::free_scheduler("eevdf");
  const auto [working_set, kin_refill, cache_refill] = GENERATE(
      table<std::int64_t, Duration, Duration>({{0, 0_us, 50_us}, {64'000, 50_us, 0_us}, {1 << 24, 0_us, 0_us}}));
  parameters.working_set_bytes = working_set;
  parameters.kin_refill = kin_refill;
  parameters.cache_refill = cache_refill;
  SharedHost shared(1, parameters, 1, {}, small_l2());
  std::vector<SimThread*> all;
  for (int i = 0; i < 2; ++i) {
    all.push_back(&shared.spawn("t" + std::to_string(i), [](SimThread& self) {
      for (int turn = 0; turn < 3; ++turn) {
        compute(self, 1_us);
        self.yield();
      }
    }));
    all.back()->set_process(i);
  }
  shared.engine.run();
  // Each was away for the other one's microsecond and what that one had refilled for: 1, 2, 3, 4, 5 us, and 5 again, since
  // the first one has nothing left to compute.
  CHECK(in(*all[0], Category::context_switch) == 1_us + 3_us + 5_us);
  CHECK(in(*all[1], Category::context_switch) == 2_us + 4_us + 5_us);
}

TEST_CASE("who comes to another core brings nothing of its working set along", "[scheduler]") {
  SchedulerParameters parameters = test::free_scheduler("eevdf");
  parameters.working_set_bytes = 64 * 1000;
  parameters.kin_refill = 300_ns;
  SharedHost shared(2, parameters, 1, {}, small_l2());
  // Two of three threads share a core until the other core falls idle and takes one of them.
  std::vector<SimThread*> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(
        &shared.spawn("t" + std::to_string(i), [i](SimThread& self) { compute(self, i == 1 ? 10_ms : 40_ms); }));
    all.back()->set_process(0);
  }
  shared.engine.run();
  REQUIRE(shared.scheduler.counters().migrations == 1);
  const auto switches = static_cast<std::int64_t>(shared.scheduler.counters().switches);
  Duration refilled;
  for (const SimThread* thread : all) {
    refilled += in(*thread, Category::context_switch);
  }
  const Duration all_of_it = 300_ns + 10_us; // 1000 lines of 40 ns, four at once
  CHECK(refilled >= all_of_it);
  CHECK(refilled <= all_of_it + 300_ns * switches);
}

TEST_CASE("a shared cache that answers before L2 refills for nothing", "[scheduler]") {
  SchedulerParameters parameters = test::free_scheduler("eevdf");
  parameters.working_set_bytes = 64'000;
  CacheParameters cache = small_l2();
  cache.l3_hit = 1_ns;
  SharedHost shared(1, parameters, 1, {}, cache);
  for (int i = 0; i < 2; ++i) {
    shared.spawn("t" + std::to_string(i), [](SimThread& self) { compute(self, 30_ms); }).set_process(i);
  }
  shared.engine.run();
  CHECK(shared.elapsed() == 60_ms);
}

TEST_CASE("decay is that of the C library", "[scheduler]") {
  CHECK(decayed(0.0) == 0.0);
  CHECK(decayed(1000.0) == 1.0);
  for (double x = 1e-9; x < 60.0; x *= 1.1) {
    CAPTURE(x);
    const double expected = -std::expm1(-x);
    CHECK(std::abs(decayed(x) - expected) <= 1e-14 * expected);
  }
}

TEST_CASE("lines that move together are charged what they take, wherever the core is lost", "[scheduler]") {
  const int lines = GENERATE(1, 2, 5);
  CAPTURE(lines);
  CacheParameters prices;
  prices.hit = 1_ns;
  prices.l3_hit = 20_ns;
  prices.transfer_socket = 60_ns;
  SharedHost shared(2, test::free_scheduler("eevdf"), 1, {}, prices);
  CacheLine line(shared.engine, shared.host, "state");
  constexpr int rounds = 2000;
  shared.spawn_on(0, "rival", [](SimThread& self) { compute(self, 40_ms); });
  SimThread& writer = shared.spawn_on(0, "writer", [&](SimThread& self) {
    for (int round = 0; round < rounds; ++round) {
      self.stall(10_us, Category::software); // whoever asks for the core meanwhile gets it afterwards
      line.store_protected(self, lines, Category::line_transfer);
    }
  });
  shared.spawn_on(1, "other", [&](SimThread& self) {
    for (int round = 0; round < 6 * rounds; ++round) {
      self.spend(5_us, Category::software);
      line.store(self, Category::software);
    }
  });
  shared.engine.run();
  CHECK(writer.charged(Category::run_queue) > 10_ms);
  CHECK(writer.line_transfers() > 100);
  CHECK(writer.charged(Category::line_transfer) > Duration{});
  CHECK(writer.charged(Category::line_transfer) <= rounds * lines * 2 * (prices.transfer_socket + prices.hit));
}
