// What every kind of lock owes its users, under random critical sections, think times and numbers of threads.
#include "models/locks/lock.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace contend;

namespace {

struct LockMix {
  const char* name;
  bool free_machine;            ///< accesses and calls cost nothing: dates collide
  std::int64_t longest_section; ///< picoseconds
  std::int64_t longest_think;
  bool try_locks;
};

/// Random programs of one lock. A lost wake-up shows as a deadlock, an intruder by the counters.
void run(const std::string& kind, const LockMix& mix, std::uint64_t seed) {
  Engine engine(seed);
  engine.set_step_limit(3'000'000);
  RandomStream shape = engine.stream("shape");
  const Host host = mix.free_machine ? test::free_host() : test::small_host();
  const auto lock = lock_registry().at(kind)(engine, host, test::small_locks(), "the lock");
  const auto threads = static_cast<int>(1 + shape.below(12));
  constexpr int rounds = 12;
  int inside = 0;
  int violations = 0;
  std::int64_t taken = 0;
  std::int64_t refused = 0;
  for (int i = 0; i < threads; ++i) {
    engine.spawn("t" + std::to_string(i), 0, i, [&](SimThread& self) {
      RandomStream random = engine.stream(self.name());
      const auto up_to = [&random](std::int64_t limit) {
        return Duration::picoseconds(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(limit) + 1)));
      };
      for (int round = 0; round < rounds; ++round) {
        self.spend(up_to(mix.longest_think), Category::software);
        if (mix.try_locks && random.below(2) == 0) {
          if (!lock->try_lock(self)) {
            ++refused;
            continue;
          }
        } else {
          lock->lock(self);
        }
        ++taken;
        violations += ++inside == 1 && lock->holder() == &self ? 0 : 1;
        self.spend(up_to(mix.longest_section), Category::matching);
        violations += inside == 1 && lock->holder() == &self ? 0 : 1;
        --inside;
        lock->unlock(self);
      }
    });
  }
  CAPTURE(kind, mix.name, seed, threads);
  REQUIRE_NOTHROW(engine.run());
  REQUIRE(violations == 0);
  REQUIRE(taken + refused == std::int64_t{threads} * rounds);
  REQUIRE(static_cast<std::int64_t>(lock->acquisitions()) == taken);
  REQUIRE(lock->contended() <= lock->acquisitions());
  REQUIRE(lock->holder() == nullptr);
  REQUIRE(lock->quiet());
}

void run_all(const LockMix& mix, std::uint64_t seeds) {
  for (const std::string& kind : lock_registry().names()) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      run(kind, mix, seed);
    }
  }
}

} // namespace

TEST_CASE("locks exclude and forget nobody: long sections", "[locks][property]") {
  run_all({"long sections", false, 2'000'000, 1'000'000, false}, 150);
}

TEST_CASE("locks exclude and forget nobody: short sections", "[locks][property]") {
  run_all({"short sections", false, 20'000, 100'000, false}, 150);
}

TEST_CASE("locks exclude and forget nobody: no time between unlock and lock", "[locks][property]") {
  run_all({"no think time", false, 50'000, 0, false}, 150);
}

TEST_CASE("locks exclude and forget nobody: with attempts", "[locks][property]") {
  run_all({"attempts", false, 200'000, 200'000, true}, 150);
}

TEST_CASE("locks exclude and forget nobody: equal dates", "[locks][property]") {
  run_all({"equal dates", true, 3, 3, true}, 300);
}
