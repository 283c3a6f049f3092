// What locking costs, to the picosecond, where the sum of line transfers is known.
#include "models/locks/lock.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <string>
#include <vector>

using namespace contend;
using test::cache;
using test::pause_time;

namespace {

struct Costs {
  Duration lock;
  Duration unlock;
};

/// From one hand-over to the next when all threads always want the lock and hold it for `section`.
/// Threads sit on different cores of one socket.
Duration saturated_period(const std::string& kind, int threads, Duration section) {
  Engine engine(1);
  const Host host = test::small_host();
  const auto lock = lock_registry().at(kind)(engine, host, test::small_locks(), "lock");
  std::vector<TimePoint> taken;
  constexpr int rounds = 40;
  for (int i = 0; i < threads; ++i) {
    engine.spawn("t" + std::to_string(i), 0, 2 * i, [&](SimThread& self) {
      for (int round = 0; round < rounds; ++round) {
        lock->lock(self);
        taken.push_back(self.now());
        self.spend(section, Category::software);
        lock->unlock(self);
      }
    });
  }
  engine.run();
  // Beginning and end apart, every period is the same.
  const std::size_t first = 3 * static_cast<std::size_t>(threads);
  const std::size_t last = taken.size() - first;
  const Duration period = taken[first + 1] - taken[first];
  for (std::size_t i = first; i + 1 < last; ++i) {
    REQUIRE(taken[i + 1] - taken[i] == period);
  }
  return period;
}

} // namespace

TEST_CASE("an uncontended lock costs its hits", "[locks][oracle]") {
  const std::map<std::string, Costs> expected{
      {"mcs",
       {cache.hit + cache.atomic_hit, cache.hit + cache.atomic_hit}}, // own node, swap; own node, compare and swap
      {"pthread-mutex", {cache.atomic_hit, cache.atomic_hit}},
      {"ticket", {cache.atomic_hit + cache.hit, cache.hit}},
      {"ttas", {cache.hit + cache.atomic_hit, cache.hit}},
  };
  for (const auto& [kind, costs] : expected) {
    CAPTURE(kind);
    Engine engine(1);
    const Host host = test::small_host();
    const auto lock = lock_registry().at(kind)(engine, host, test::small_locks(), "lock");
    engine.spawn("t", 0, 0, [&, costs = costs](SimThread& self) {
      lock->lock(self); // the lines come into this core's cache
      lock->unlock(self);
      for (int round = 0; round < 3; ++round) {
        const TimePoint start = self.now();
        lock->lock(self);
        CHECK(self.now() - start == costs.lock);
        const TimePoint release = self.now();
        lock->unlock(self);
        CHECK(self.now() - release == costs.unlock);
      }
    });
    engine.run();
  }
}

TEST_CASE("the first acquisition fetches the lines", "[locks][oracle]") {
  const std::map<std::string, Duration> expected{
      {"mcs", cache.l3_hit + cache.hit + cache.l3_hit + cache.atomic_hit},
      {"pthread-mutex", cache.l3_hit + cache.atomic_hit},
      {"ticket", cache.l3_hit + cache.atomic_hit + cache.l3_hit + cache.hit},
      {"ttas", cache.l3_hit + cache.hit + cache.atomic_hit},
  };
  for (const auto& [kind, cost] : expected) {
    CAPTURE(kind);
    Engine engine(1);
    const Host host = test::small_host();
    const auto lock = lock_registry().at(kind)(engine, host, test::small_locks(), "lock");
    engine.spawn("t", 0, 0, [&](SimThread& self) { lock->lock(self); });
    engine.run();
    CHECK(test::clock(engine) == cost);
  }
}

TEST_CASE("a lock that wanders between two cores pays a transfer", "[locks][oracle]") {
  // Nobody ever waits: the other core had the lock last, long ago.
  const std::map<std::string, Duration> expected{
      {"mcs", cache.hit + cache.transfer_remote + cache.atomic_hit},
      {"pthread-mutex", cache.transfer_remote + cache.atomic_hit},
      {"ticket", 2 * cache.transfer_remote + cache.atomic_hit + cache.hit},
      {"ttas", 2 * cache.transfer_remote + cache.hit + cache.atomic_hit}, // test, then invalidate the other's copy
  };
  for (const auto& [kind, cost] : expected) {
    CAPTURE(kind);
    Engine engine(1);
    const Host host = test::small_host();
    const auto lock = lock_registry().at(kind)(engine, host, test::small_locks(), "lock");
    for (int i = 0; i < 2; ++i) {
      engine.spawn("t" + std::to_string(i), 0, 8 * i, [&, i, cost = cost](SimThread& self) {
        for (int round = 0; round < 4; ++round) {
          self.spend(TimePoint::at((2 * round + i + 1) * 10_us) - self.now(), Category::software);
          const TimePoint start = self.now();
          lock->lock(self);
          if (round > 0) {
            CHECK(self.now() - start == cost);
          }
          lock->unlock(self);
        }
      });
    }
    engine.run();
  }
}

TEST_CASE("a saturated ticket lock hands over in two transfers and a pause", "[locks][oracle]") {
  constexpr Duration section = 2_us; // a thread that unlocks is back in the queue before the section ends
  const Duration invalidate = cache.transfer_socket + cache.hit;
  const Duration read_again = cache.transfer_socket + cache.hit;
  for (const int threads : {2, 3, 4}) {
    CAPTURE(threads);
    CHECK(saturated_period("ticket", threads, section) == section + invalidate + pause_time + read_again);
  }
}

TEST_CASE("a saturated MCS lock hands over in a look at the own node, two transfers and a pause", "[locks][oracle]") {
  constexpr Duration section = 2_us;
  const Duration find_successor = cache.hit; // the node was read when the lock came
  const Duration write_its_node = cache.transfer_socket + cache.hit;
  const Duration read_own_node = cache.transfer_socket + cache.hit;
  for (const int threads : {3, 4}) { // of two threads each finds its node stolen by the other
    CAPTURE(threads);
    CHECK(saturated_period("mcs", threads, section) ==
          section + find_successor + write_its_node + pause_time + read_own_node);
  }
}
