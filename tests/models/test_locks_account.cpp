// The account of who waits for whom agrees, for every kind of lock, with the time that threads were charged.
#include "core/contention_account.hpp"
#include "models/locks/lock.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <numeric>

using namespace contend;

TEST_CASE("waits and releases of a lock add up to the time charged to lock_wait", "[lock][account]") {
  for (const std::string& kind : lock_registry().names()) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(kind, seed);
      Engine engine(seed);
      ContentionAccount account(engine);
      const Host host = test::small_host();
      const auto lock = lock_registry().at(kind)(engine, host, test::small_locks(), "the lock");
      Duration inside;
      const auto threads = static_cast<int>(2 + seed % 7);
      for (int i = 0; i < threads; ++i) {
        engine.spawn("t" + std::to_string(i), 0, i, [&](SimThread& self) {
          RandomStream random = engine.stream(self.name());
          const auto up_to = [&](std::uint64_t limit) {
            return Duration::picoseconds(static_cast<std::int64_t>(random.below(limit)));
          };
          for (int round = 0; round < 15; ++round) {
            self.owe(up_to(200'000), Category::software);
            lock->lock(self);
            const Duration section = up_to(300'000);
            random.below(2) == 0 ? self.owe(section, Category::matching) : self.spend(section, Category::matching);
            inside += section;
            lock->unlock(self);
          }
        });
      }
      engine.run();

      REQUIRE(account.locks().size() == 1);
      const ContentionAccount::LockAccount sums = account.locks()[0];
      REQUIRE(sums.uses.size() == static_cast<std::size_t>(threads));
      std::int64_t acquisitions = 0;
      Duration hold;
      Duration waited_for_somebody;
      for (int i = 0; i < threads; ++i) {
        const ContentionAccount::Use& use = sums.uses[static_cast<std::size_t>(i)];
        CHECK(use.wait + use.release ==
              test::spent(*engine.threads()[static_cast<std::size_t>(i)], Category::lock_wait));
        Duration attributed;
        for (const auto& [holder, time] : use.waited_for) {
          CHECK(holder != i);
          CHECK(time > Duration{});
          attributed += time;
        }
        CHECK(attributed <= use.wait);
        waited_for_somebody += attributed;
        acquisitions += use.acquisitions;
        hold += use.hold;
      }
      CHECK(static_cast<std::uint64_t>(acquisitions) == lock->acquisitions());
      CHECK(hold == inside);
      CHECK(waited_for_somebody > Duration{});
    }
  }
}

TEST_CASE("a lock is held while its holder runs sections for others on the way out", "[lock][account][delegation]") {
  for (const std::string& kind : lock_registry().names()) {
    CAPTURE(kind);
    Engine engine(3);
    ContentionAccount account(engine);
    const Host host = test::small_host();
    const auto lock = lock_registry().at(kind)(engine, host, test::small_locks(), "the lock");
    constexpr int threads = 6;
    constexpr int rounds = 40;
    for (int i = 0; i < threads; ++i) {
      engine.spawn("t" + std::to_string(i), 0, i, [&](SimThread& self) {
        for (int round = 0; round < rounds; ++round) {
          lock->execute(self, [](SimThread& runner) { runner.spend(1_us, Category::matching); });
        }
      });
    }
    engine.run();

    const ContentionAccount::LockAccount sums = account.locks().at(0);
    Duration hold;
    Duration wait;
    Duration waited_for_somebody;
    for (int i = 0; i < threads; ++i) {
      const ContentionAccount::Use& use = sums.uses[static_cast<std::size_t>(i)];
      CHECK(use.wait + use.release == test::spent(*engine.threads()[static_cast<std::size_t>(i)], Category::lock_wait));
      hold += use.hold;
      wait += use.wait;
      for (const auto& [holder, time] : use.waited_for) {
        waited_for_somebody += time;
      }
    }
    CHECK(hold == 1_us * (threads * rounds));
    CHECK(waited_for_somebody <= wait);
    CHECK(waited_for_somebody.in_seconds() > 0.1 * wait.in_seconds());
  }
}
