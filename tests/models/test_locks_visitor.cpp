// What an idle poller that is not simulated event by event needs from a lock: to be told before anybody touches it, and
// to be made its holder.
#include "models/locks/lock.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace contend;

namespace {

class Recorder final : public LockVisitor {
public:
  explicit Recorder(Engine& engine) : engine_(engine) {}
  void before_touch(Lock& lock) override {
    touches.push_back(engine_.now());
    free_at_touch.push_back(lock.holder() == nullptr);
    if (grant_to != nullptr) {
      lock.set_visitor(nullptr);
      lock.grant(*grant_to);
    }
  }

  std::vector<TimePoint> touches;
  std::vector<bool> free_at_touch;
  SimThread* grant_to = nullptr;

private:
  Engine& engine_;
};

} // namespace

TEST_CASE("a visitor is told before any lock or attempt, not about unlocks", "[locks][visitor]") {
  for (const std::string& kind : lock_registry().names()) {
    CAPTURE(kind);
    Engine engine(1);
    const Host host = test::small_host();
    const auto lock = lock_registry().at(kind)(engine, host, test::small_locks(), "lock");
    Recorder visitor(engine);
    lock->set_visitor(&visitor);
    engine.spawn("t", 0, 0, [&](SimThread& self) {
      self.spend(1_us, Category::software);
      lock->lock(self);
      lock->unlock(self);
      self.spend(1_us, Category::software);
      const TimePoint second = self.now();
      CHECK(lock->try_lock(self));
      lock->unlock(self);
      CHECK(visitor.touches == std::vector<TimePoint>{TimePoint::at(1_us), second});
      CHECK(visitor.free_at_touch == std::vector<bool>{true, true});
      lock->set_visitor(nullptr);
      lock->lock(self);
      lock->unlock(self);
      CHECK(visitor.touches.size() == 2);
    });
    engine.run();
  }
}

TEST_CASE("a granted lock is held like one that was taken", "[locks][visitor]") {
  for (const std::string& kind : lock_registry().names()) {
    CAPTURE(kind);
    Engine engine(1);
    const Host host = test::small_host();
    const auto lock = lock_registry().at(kind)(engine, host, test::small_locks(), "lock");
    engine.spawn("poller", 0, 0, [&](SimThread& self) {
      lock->lock(self); // it has been here before
      lock->unlock(self);
      self.spend(5_us - test::clock(self), Category::poll_idle);
      const TimePoint start = self.now();
      lock->grant(self);
      CHECK(self.now() == start);
      CHECK(lock->holder() == &self);
      CHECK_FALSE(lock->quiet());
      self.spend(5_us, Category::software);
      lock->unlock(self);
    });
    engine.spawn("waiter", 0, 2, [&](SimThread& self) {
      self.spend(6_us, Category::software);
      CHECK_FALSE(lock->try_lock(self));
      lock->lock(self);
      CHECK(test::clock(self) > 10_us);
      lock->unlock(self);
    });
    engine.run();
    CHECK(lock->acquisitions() == 3);
    CHECK(lock->quiet());
  }
}

TEST_CASE("a held lock cannot be granted, and stays as it was", "[locks][visitor]") {
  for (const std::string& kind : lock_registry().names()) {
    CAPTURE(kind);
    Engine engine(1);
    const Host host = test::small_host();
    const auto lock = lock_registry().at(kind)(engine, host, test::small_locks(), "lock");
    SimThread& other = engine.spawn("other", 0, 2, [&](SimThread& self) {
      self.spend(2_us, Category::software);
      lock->lock(self);
      lock->unlock(self);
    });
    engine.spawn("holder", 0, 0, [&](SimThread& self) {
      lock->lock(self);
      CHECK_THROWS_AS(lock->grant(other), InvariantViolation);
      CHECK(lock->holder() == &self);
      self.spend(10_us, Category::software);
      lock->unlock(self);
    });
    CHECK_NOTHROW(engine.run());
    CHECK(lock->acquisitions() == 2);
    engine.abandon();
  }
}

TEST_CASE("a visitor may grant the lock at the touch: the one who touches waits", "[locks][visitor]") {
  for (const std::string& kind : lock_registry().names()) {
    for (const bool attempt : {false, true}) {
      CAPTURE(kind, attempt);
      Engine engine(1);
      const Host host = test::small_host();
      const auto lock = lock_registry().at(kind)(engine, host, test::small_locks(), "lock");
      Recorder visitor(engine);
      lock->set_visitor(&visitor);
      SimThread& poller = engine.spawn("poller", 0, 0, [&](SimThread& self) {
        self.spend(20_us, Category::poll_idle);
        CHECK(lock->holder() == &self);
        lock->unlock(self);
      });
      visitor.grant_to = &poller;
      engine.spawn("toucher", 0, 2, [&](SimThread& self) {
        self.spend(10_us, Category::software);
        if (attempt) {
          CHECK_FALSE(lock->try_lock(self));
          CHECK(test::clock(self) < 20_us);
          return;
        }
        lock->lock(self);
        CHECK(test::clock(self) > 20_us);
        lock->unlock(self);
      });
      engine.run();
      CHECK(visitor.touches.size() == 1);
      CHECK(lock->quiet());
    }
  }
}
