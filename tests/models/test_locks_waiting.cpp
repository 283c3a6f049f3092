// What those do that wait for a lock and look: they back off, give up their time slice, nap, and are passed by others.
#include "models/locks/lock.hpp"
#include "models/locks/spinners.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace contend;
using test::cache;
using test::flat_host;

namespace {

/// When a thread that asks after 200 ns has a lock that is given back at `release`.
Duration taken_after(const char* kind, const LockParameters& parameters, Duration release) {
  Engine engine(1);
  const Host host = flat_host();
  const auto lock = lock_registry().at(kind)(engine, host, parameters, "lock");
  Duration taken;
  engine.spawn("holder", 0, 0, [&](SimThread& self) {
    lock->lock(self);
    self.spend(TimePoint::at(release) - self.now(), Category::software);
    lock->unlock(self);
  });
  engine.spawn("waiter", 0, 1, [&](SimThread& self) {
    self.spend(200_ns, Category::software);
    lock->lock(self);
    taken = test::clock(self);
    lock->unlock(self);
  });
  engine.run();
  return taken;
}

} // namespace

TEST_CASE("a back-off that grows saves transfers of the lock's line", "[locks]") {
  const auto transfers = [](Duration longest) {
    Engine engine(1);
    const Host host = flat_host();
    LockParameters parameters = test::small_locks();
    parameters.backoff_maximum = longest;
    const auto lock = lock_registry().at("ttas")(engine, host, parameters, "lock");
    std::uint64_t sum = 0;
    for (int core = 0; core < 16; ++core) {
      engine.spawn("t" + std::to_string(core), 0, core, [&](SimThread& self) {
        for (int round = 0; round < 20; ++round) {
          lock->lock(self);
          lock->unlock(self);
        }
        sum += self.line_transfers();
      });
    }
    engine.run();
    return sum;
  };
  const Duration first = test::small_locks().backoff_minimum;
  CHECK(transfers(64 * first) < transfers(first));
}

TEST_CASE("a thread that yields looks once per call of sched_yield", "[locks][oracle]") {
  const Duration yield = flat_host().futex().yield_call;
  for (const char* kind : {"ttas-yield", "ticket-yield"}) {
    for (const Duration release : {1_us, 1'300'017_ps, 2_us}) {
      CAPTURE(kind, release);
      const Duration taken = taken_after(kind, test::small_locks(), release);
      CHECK(taken > release);
      CHECK(taken < release + yield + 3 * (cache.transfer_socket + cache.atomic_hit));
    }
  }
}

TEST_CASE("a turn of a loop of atomic attempts is a pause, and an attempt", "[locks][oracle]") {
  LockParameters parameters = test::small_locks();
  parameters.pause = 700_ns; // longer than all that a release takes
  const Duration attempt = parameters.pause + cache.atomic_hit;
  for (const char* kind : {"tas", "tas-bit"}) {
    CAPTURE(kind);
    const Duration more = taken_after(kind, parameters, 40_us) - taken_after(kind, parameters, 3_us);
    CHECK(more / attempt > 40);
    CHECK(more % attempt == Duration{});
  }
  // It also reads the time. A look may have to wait for the answer that is being written.
  const Duration turn = attempt + time_stamp;
  for (const Duration release : {40_us, 41_us, 57_us}) {
    const char* kind = "distributed-mutex";
    const Duration over = (taken_after(kind, parameters, release) - taken_after(kind, parameters, 3_us)) % turn;
    CHECK(std::min(over, turn - over) < cache.transfer_socket);
  }
}

TEST_CASE("a lock that sets before it tests saves the look where it is free", "[locks][oracle]") {
  const auto price_of = [](const char* kind) {
    Engine engine(1);
    const Host host = flat_host();
    const auto lock = lock_registry().at(kind)(engine, host, test::small_locks(), "lock");
    Duration price;
    engine.spawn("t", 0, 0, [&](SimThread& self) {
      for (int round = 0; round < 2; ++round) {
        const TimePoint start = self.now();
        lock->lock(self);
        price = self.now() - start;
        lock->unlock(self);
      }
    });
    engine.run();
    return price;
  };
  CHECK(price_of("ttas") == cache.hit + cache.atomic_hit);
  CHECK(price_of("ttas-eager") == cache.atomic_hit);
}

TEST_CASE("a ticket lock whose counters share a line is dearer when others come", "[locks]") {
  const auto elapsed = [](int lines) {
    LockParameters parameters = test::small_locks();
    parameters.ticket_lines = lines;
    Engine engine(1);
    const Host host = flat_host();
    const auto lock = lock_registry().at("ticket")(engine, host, parameters, "lock");
    for (int i = 0; i < 6; ++i) {
      engine.spawn("t" + std::to_string(i), 0, i, [&](SimThread& self) {
        for (int round = 0; round < 50; ++round) {
          lock->lock(self);
          self.spend(20_ns, Category::software);
          lock->unlock(self);
        }
      });
    }
    engine.run();
    CHECK(lock->acquisitions() == 300);
    return engine.now();
  };
  CHECK(elapsed(1) > elapsed(2));
}

TEST_CASE("a nap comes after so many looks, however long each waits for the line", "[locks][oracle]") {
  LockParameters parameters = test::small_locks();
  parameters.nap_after = 50;
  parameters.nap = 100_us;
  Engine engine(1);
  const Host host = flat_host();
  const auto lock = lock_registry().at("ttas")(engine, host, parameters, "lock");
  engine.spawn("holder", 0, 0, [&](SimThread& self) {
    lock->lock(self);
    self.spend(parameters.pause * 200, Category::software);
    lock->unlock(self);
  });
  engine.spawn("waiter", 0, 1, [&](SimThread& self) {
    self.spend(100_ns, Category::software);
    lock->lock(self);
    // It looks at once, spins on its copy for so many turns, naps, and looks again.
    const Duration naps_from = 100_ns + parameters.nap_after * (parameters.pause + cache.hit);
    CHECK(test::clock(self) > naps_from + parameters.nap);
    CHECK(test::clock(self) < naps_from + parameters.nap + 4 * cache.transfer_socket);
    lock->unlock(self);
  });
  engine.run();
}

TEST_CASE("a thread that has spun for long naps between its looks", "[locks]") {
  LockParameters parameters = test::small_locks();
  parameters.nap_after = 100;
  parameters.nap = 50_us;
  for (const char* kind : {"tas", "ttas"}) {
    CAPTURE(kind);
    Engine engine(1);
    const Host host = flat_host();
    const auto lock = lock_registry().at(kind)(engine, host, parameters, "lock");
    engine.spawn("holder", 0, 0, [&](SimThread& self) {
      for (int i = 0; i < 20; ++i) {
        lock->lock(self);
        self.spend(1_us, Category::software);
        lock->unlock(self);
      }
    });
    bool long_wait = false;
    for (int i = 1; i < 6; ++i) {
      engine.spawn("t" + std::to_string(i), 0, i, [&](SimThread& self) {
        for (int round = 0; round < 20; ++round) {
          const TimePoint start = self.now();
          lock->lock(self);
          long_wait = long_wait || self.now() - start >= parameters.nap;
          self.spend(1_us, Category::software);
          lock->unlock(self);
        }
      });
    }
    engine.run();
    CHECK(long_wait);
    CHECK(lock->acquisitions() == 120);
  }
}

TEST_CASE("a poller gets a priority lock when nobody who works wants it", "[locks]") {
  Engine engine(1);
  const Host host = flat_host();
  const auto lock = lock_registry().at("priority")(engine, host, test::small_locks(), "lock");
  std::vector<std::string> order;
  const auto section = [&](SimThread& self, Category category) {
    lock->lock(self, category);
    order.push_back(self.name());
    self.spend(10_us, Category::software);
    lock->unlock(self, category);
  };
  engine.spawn("worker 0", 0, 0, [&](SimThread& self) { section(self, Category::lock_wait); });
  engine.spawn("poller", 0, 1, [&](SimThread& self) {
    self.spend(1_us, Category::software);
    section(self, Category::poll_idle);
  });
  for (int i = 1; i < 4; ++i) { // they come later, each while the one before is at work
    engine.spawn("worker " + std::to_string(i), 0, i + 1, [&, i](SimThread& self) {
      self.spend((10 * i - 5) * 1_us, Category::software);
      section(self, Category::lock_wait);
    });
  }
  engine.run();
  CHECK(order == std::vector<std::string>{"worker 0", "worker 1", "worker 2", "worker 3", "poller"});
  CHECK(lock->quiet());
}

TEST_CASE("a thread naps while the lock is held, not when it has been given back", "[locks][oracle]") {
  const bool home_order = GENERATE(false, true);
  const std::string kind = GENERATE("tas", "tas-bit", "ttas", "ttas-eager", "ttas-yield", "distributed-mutex");
  CAPTURE(kind, home_order);
  LockParameters parameters = test::small_locks();
  parameters.backoff_minimum = parameters.backoff_maximum = 0_ns;
  parameters.nap_after = 20;
  parameters.nap = 50_us;
  Engine engine(1);
  const Host host({1, 4, 1}, home_order ? test::home_ordered() : test::small_cache(), test::small_futex());
  const auto lock = lock_registry().at(kind)(engine, host, parameters, "lock");
  engine.spawn("holder", 0, 0, [&](SimThread& self) {
    lock->lock(self);
    self.spend(200_us - test::clock(self), Category::software);
    lock->unlock(self);
  });
  Duration taken;
  engine.spawn("waiter", 0, 1, [&](SimThread& self) {
    self.spend(1_us, Category::software);
    lock->lock(self);
    taken = test::clock(self);
    lock->unlock(self);
  });
  engine.run();
  // Some looks, and then one after each nap: the fourth ends soon after the release.
  CHECK(taken > 200_us);
  CHECK(taken < 210_us);
}
