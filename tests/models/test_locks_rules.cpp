// The rules of locking: who may unlock, what try_lock may do, and what a lock tells about itself.
#include "models/locks/lock.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace contend;

namespace {

/// Calls `check` with an engine, its host and a lock, for every registered kind.
template <typename Check>
void for_each_kind(Check check) {
  for (const std::string& kind : lock_registry().names()) {
    CAPTURE(kind);
    Engine engine(1);
    const Host host = test::small_host();
    const std::unique_ptr<Lock> lock = lock_registry().at(kind)(engine, host, test::small_locks(), "the lock");
    check(engine, *lock);
  }
}

} // namespace

TEST_CASE("locking twice is an error", "[locks]") {
  for_each_kind([](Engine& engine, Lock& lock) {
    engine.spawn("t", 0, 0, [&](SimThread& self) {
      lock.lock(self);
      CHECK_THROWS_AS(lock.lock(self), InvariantViolation);
      CHECK(lock.holder() == &self);
      lock.unlock(self);
    });
    engine.run();
    CHECK(lock.acquisitions() == 1);
  });
}

TEST_CASE("unlocking what one does not hold is an error", "[locks]") {
  for_each_kind([](Engine& engine, Lock& lock) {
    engine.spawn("holder", 0, 0, [&](SimThread& self) {
      CHECK_THROWS_AS(lock.unlock(self), InvariantViolation);
      lock.lock(self);
      self.spend(10_us, Category::software);
      CHECK(lock.holder() == &self);
      lock.unlock(self);
      CHECK_THROWS_AS(lock.unlock(self), InvariantViolation);
    });
    engine.spawn("intruder", 0, 2, [&](SimThread& self) {
      self.spend(5_us, Category::software);
      CHECK_THROWS_AS(lock.unlock(self), InvariantViolation);
    });
    engine.run();
    CHECK(lock.holder() == nullptr);
  });
}

TEST_CASE("the error of a wrong unlock names lock and thread", "[locks]") {
  for_each_kind([](Engine& engine, Lock& lock) {
    engine.spawn("intruder", 0, 0, [&](SimThread& self) { lock.unlock(self); });
    CHECK_THROWS_WITH(engine.run(), Catch::Contains("the lock") && Catch::Contains("intruder"));
  });
}

TEST_CASE("try_lock does not wait for the holder", "[locks]") {
  for_each_kind([](Engine& engine, Lock& lock) {
    engine.spawn("holder", 0, 0, [&](SimThread& self) {
      lock.lock(self);
      self.spend(1_ms, Category::software);
      lock.unlock(self);
    });
    for (const int core : {1, 2, 9}) {
      engine.spawn("trier " + std::to_string(core), 0, core, [&](SimThread& self) {
        self.spend(10_us, Category::software);
        for (int attempt = 0; attempt < 100; ++attempt) {
          const TimePoint start = self.now();
          CHECK_FALSE(lock.try_lock(self, Category::poll_idle));
          // A few line transfers, queueing behind the other triers included.
          CHECK(self.now() - start < 10 * test::small_cache().transfer_remote);
          self.spend(1_us, Category::software);
        }
        CHECK(test::spent(self, Category::lock_wait) == 0_ps);
        CHECK(test::spent(self, Category::poll_idle) > 0_ps);
      });
    }
    engine.run();
    CHECK(lock.acquisitions() == 1);
    CHECK(lock.contended() == 0); // attempts are not acquisitions
  });
}

TEST_CASE("try_lock takes a free lock, and its own lock refuses the holder", "[locks]") {
  for_each_kind([](Engine& engine, Lock& lock) {
    engine.spawn("t", 0, 0, [&](SimThread& self) {
      for (int round = 0; round < 3; ++round) {
        CHECK(lock.try_lock(self));
        CHECK_FALSE(lock.try_lock(self));
        CHECK(lock.holder() == &self);
        lock.unlock(self);
      }
    });
    engine.run();
    CHECK(lock.acquisitions() == 3);
    CHECK(lock.quiet());
  });
}

TEST_CASE("an acquisition that finds a holder is counted as contended", "[locks]") {
  for_each_kind([](Engine& engine, Lock& lock) {
    for (int i = 0; i < 4; ++i) {
      engine.spawn("t" + std::to_string(i), 0, 2 * i, [&, i](SimThread& self) {
        self.spend(i * 1_us, Category::software);
        lock.lock(self);
        self.spend(100_us, Category::software);
        lock.unlock(self);
      });
    }
    engine.run();
    CHECK(lock.acquisitions() == 4);
    CHECK(lock.contended() == 3);
  });
}

TEST_CASE("a lock is held until its release takes effect", "[locks]") {
  for_each_kind([](Engine& engine, Lock& lock) {
    SimThread* late = nullptr;
    engine.spawn("holder", 0, 0, [&](SimThread& self) {
      lock.lock(self);
      self.spend(100_us, Category::software);
      late->resume_at(engine.now() + 1_ps); // in the middle of the release
      lock.unlock(self);
    });
    late = &engine.spawn("late", 0, 2, [&](SimThread& self) {
      self.wait(lock, Category::blocked);
      CHECK(lock.holder() != nullptr);
      lock.lock(self);
      lock.unlock(self);
    });
    engine.run();
    CHECK(lock.acquisitions() == 2);
    CHECK(lock.contended() == 1);
    CHECK(lock.quiet());
  });
}

TEST_CASE("a lock is quiet only when nobody is in any of its calls", "[locks]") {
  for_each_kind([](Engine& engine, Lock& lock) {
    CHECK(lock.quiet());
    engine.spawn("first", 0, 0, [&](SimThread& self) {
      lock.lock(self);
      self.spend(20_us, Category::software);
      lock.unlock(self);
    });
    engine.spawn("second", 0, 2, [&](SimThread& self) {
      self.spend(5_us, Category::software);
      lock.lock(self);
      lock.unlock(self);
    });
    engine.spawn("watcher", 0, 4, [&](SimThread& self) {
      self.spend(1_ps, Category::software);
      CHECK_FALSE(lock.quiet()); // the first one is on its way in
      self.spend(10_us, Category::software);
      CHECK_FALSE(lock.quiet());
      self.spend(1_ms, Category::software);
      CHECK(lock.quiet());
    });
    engine.run();
  });
}

TEST_CASE("time is charged to the category the caller names", "[locks]") {
  for_each_kind([](Engine& engine, Lock& lock) {
    engine.spawn("t", 0, 0, [&](SimThread& self) {
      lock.lock(self, Category::matching);
      const Duration locking = test::spent(self, Category::matching);
      CHECK(locking == test::clock(self));
      lock.unlock(self, Category::completion);
      CHECK(test::spent(self, Category::matching) == locking);
      CHECK(test::spent(self, Category::completion) == test::clock(self) - locking);
    });
    engine.run();
  });
}

TEST_CASE("a deadlock report names lock and holder", "[locks]") {
  for (const std::string& kind : lock_registry().names()) {
    const std::vector<std::string> sleeping{
        "adaptive",      "flat-combining", "flat-combining-pooled", "mutex3",          "parking-lot",
        "pthread-mutex", "queued-mutex",   "shared-mutex",          "ticket-blocking", "ttas-futex"};
    if (std::find(sleeping.begin(), sleeping.end(), kind) != sleeping.end()) {
      continue; // its sleepers wait for a futex of that name
    }
    Engine engine(1);
    const Host host = test::small_host();
    const auto lock = lock_registry().at(kind)(engine, host, test::small_locks(), "the lock");
    engine.spawn("forgetful", 0, 0, [&](SimThread& self) { lock->lock(self); });
    engine.spawn("patient", 0, 2, [&](SimThread& self) {
      self.spend(1_us, Category::software);
      lock->lock(self);
    });
    CAPTURE(kind);
    CHECK_THROWS_WITH(engine.run(), Catch::Contains("the lock") && Catch::Contains("forgetful"));
    engine.abandon();
  }
}

TEST_CASE("a lock kind is added by one registration", "[locks]") {
  CHECK_THROWS_AS(lock_registry().add("ticket", lock_registry().at("mcs")), std::logic_error);
  CHECK_THROWS_AS(lock_registry().at("no such lock"), std::out_of_range);
}

TEST_CASE("an idle poll that finds what a lock guards at its core is a poll and nothing else", "[lock]") {
  Engine engine(1);
  const Host host = test::small_host();
  const std::unique_ptr<Lock> lock = lock_registry().at("pthread-mutex")(engine, host, test::small_locks(), "the lock");
  constexpr int lines = 5;
  lock->guards(host, lines);
  engine.spawn("t", 0, 0, [&](SimThread& self) {
    const auto transfers_of_taking = [&](Category taken_for) {
      const Duration before = test::spent(self, Category::line_transfer);
      REQUIRE(lock->try_lock(self, taken_for));
      lock->unlock(self, taken_for);
      self.settle();
      return test::spent(self, Category::line_transfer) - before;
    };
    transfers_of_taking(Category::poll_idle); // brings them
    CHECK(transfers_of_taking(Category::poll_idle) == Duration{});
    CHECK(transfers_of_taking(Category::nic_post) == lines * test::small_cache().hit);
  });
  engine.run();
}
