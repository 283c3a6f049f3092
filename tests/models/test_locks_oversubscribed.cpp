// Locks where threads share cores: what becomes of spinning when the holder, or the next one in line, has lost its core.
#include "core/futex.hpp"
#include "core/scheduler.hpp"
#include "models/locks/bypasses.hpp"
#include "models/locks/lock.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace contend;
using test::spent;

namespace {

SchedulerParameters fair(const std::string& policy) {
  SchedulerParameters parameters;
  parameters.policy = policy;
  parameters.latency = 6_ms;
  parameters.slice = policy == "cfs" ? 750_us : 1'500_us;
  parameters.wakeup_granularity = 1_ms;
  parameters.context_switch = 1_us;
  parameters.cache_refill = 2_us;
  parameters.balance_period = 4_ms;
  return parameters;
}

struct Crowded {
  Duration longest_free{}; ///< from the end of one section to the next, while all want the lock
  Duration elapsed{};
  Duration lock_wait{};
  Duration holding{};
  std::uint64_t acquisitions = 0;
  std::uint64_t preemptions = 0;
};

/// `threads` on `cores` take a lock `times` times each, hold it for `held` and stay away for `away`.
Crowded contend_for(const std::string& kind, const SchedulerParameters& parameters, int cores, int threads, int times,
                    Duration held, Duration away) {
  Engine engine(17);
  engine.set_step_limit(50'000'000);
  const Host host = test::small_host();
  Scheduler scheduler(engine, host, 0, parameters, cores);
  const auto lock = lock_registry().at(kind)(engine, host, test::small_locks(), "lock");
  int inside = 0;
  TimePoint given_back;
  Duration longest_free;
  std::vector<SimThread*> all;
  for (int i = 0; i < threads; ++i) {
    all.push_back(&scheduler.spawn("t" + std::to_string(i), {}, [&](SimThread& self) {
      RandomStream random = engine.stream(self.name());
      for (int k = 0; k < times; ++k) {
        self.spend(random.exponential(away), Category::software);
        lock->lock(self);
        REQUIRE(++inside == 1);
        longest_free = given_back == TimePoint() ? longest_free : std::max(longest_free, self.now() - given_back);
        self.spend(held, Category::matching);
        REQUIRE(inside-- == 1);
        lock->unlock(self);
        given_back = self.now();
      }
    }));
  }
  engine.run();
  Crowded outcome{longest_free, engine.now().since_start(), {},
                  {},           lock->acquisitions(),       scheduler.counters().preemptions};
  for (const SimThread* thread : all) {
    outcome.lock_wait += spent(*thread, Category::lock_wait);
    outcome.holding += spent(*thread, Category::matching);
  }
  engine.abandon();
  return outcome;
}

Crowded contend_for(const std::string& kind, const std::string& policy, int cores, int threads, int times,
                    Duration held, Duration away) {
  return contend_for(kind, fair(policy), cores, threads, times, held, away);
}

} // namespace

TEST_CASE("every lock excludes and ends where threads share cores", "[locks][scheduler]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  const int cores = GENERATE(1, 3);
  for (const std::string& kind : lock_registry().names()) {
    CAPTURE(kind, policy, cores);
    const Crowded outcome = contend_for(kind, policy, cores, 7, 60, 40_us, 60_us);
    CHECK(outcome.acquisitions == 7 * 60);
    CHECK(outcome.holding == 40_us * (7 * 60));
  }
}

TEST_CASE("a lock of threads that look is not given to one that has no core", "[locks][scheduler]") {
  // Ten times as many threads as one that is passed 15 times by each, so that all are favoured at some time.
  const std::string kind = GENERATE("tas", "ttas", "ttas-eager");
  const Crowded outcome = contend_for(kind, "eevdf", 3, 9, 20'000, 200_ns, 20_ns);
  CAPTURE(kind, outcome.longest_free.count());
  CHECK(outcome.acquisitions == 9 * 20'000);
  CHECK(outcome.preemptions > 0);
  CHECK(outcome.longest_free < 100_us); // a slice is 1.5 ms: whoever has a core sees the lock free
}

TEST_CASE("a thread that came first by itself is favoured no more", "[locks][scheduler]") {
  Engine engine(1);
  Bypasses bypasses;
  engine.spawn("passed", 0, 0, [&](SimThread& self) {
    {
      Bypasses::Wait wait(bypasses);
      for (int passed = 0; !bypasses.chosen(self); ++passed) {
        REQUIRE(passed < 100);
        REQUIRE_FALSE(bypasses.hand_over());
        wait.missed(self);
      }
    } // has the lock, though nobody has given it
    CHECK_FALSE(bypasses.chosen(self));
    CHECK_FALSE(bypasses.hand_over());
  });
  engine.run();
}

TEST_CASE("spinning collapses when the holder loses its core, sleeping does not", "[locks][scheduler]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  // One core: whoever spins keeps the holder from going on.
  const auto run = [&](const std::string& kind) { return contend_for(kind, policy, 1, 8, 200, 60_us, 40_us); };
  const Crowded mutex = run("pthread-mutex");
  const Crowded ttas = run("ttas");
  const Crowded ticket = run("ticket");
  const Duration work = 100_us * (8 * 200);
  CAPTURE(policy, work.in_seconds(), mutex.elapsed.in_seconds(), ttas.elapsed.in_seconds(),
          ticket.elapsed.in_seconds());
  // Sleepers leave the core: what is left are calls and switches.
  CHECK(mutex.elapsed < work.scaled(1.5));
  // Most of the time goes into spinning for a lock whose holder waits for the core.
  CHECK(ttas.elapsed > mutex.elapsed.scaled(2.0));
  CHECK(ttas.lock_wait > ttas.holding);
  // First come, first served is worse: the next in line has to get the core before anybody else can have the lock.
  CHECK(ticket.elapsed > ttas.elapsed);
}

TEST_CASE("with a core for each thread a shared host is as fast as one without a scheduler", "[locks][scheduler]") {
  for (const std::string& kind : lock_registry().names()) {
    CAPTURE(kind);
    constexpr int threads = 4;
    const auto run = [&](bool shared, std::uint64_t seed) {
      Engine engine(seed);
      const Host host = test::small_host();
      Scheduler scheduler(engine, host, 0, fair("cfs"), threads);
      const auto lock = lock_registry().at(kind)(engine, host, test::small_locks(), "lock");
      const auto body = [&](SimThread& self) {
        RandomStream random = engine.stream(self.name());
        for (int k = 0; k < 300; ++k) {
          self.spend(random.exponential(2_us), Category::software);
          lock->lock(self);
          self.owe(300_ns, Category::matching);
          lock->unlock(self);
        }
      };
      for (int i = 0; i < threads; ++i) {
        Scheduler::Placement placement;
        placement.allowed.set(static_cast<std::size_t>(i));
        const std::string name = "t" + std::to_string(i);
        shared ? scheduler.spawn(name, placement, body) : engine.spawn(name, 0, i, body);
      }
      engine.run();
      engine.abandon();
      return engine.now().since_start();
    };
    // Equal dates may be served in another order, which changes who is next for a lock: one run may differ by 5 %.
    double shared = 0;
    double alone = 0;
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
      shared += run(true, seed).in_seconds();
      alone += run(false, seed).in_seconds();
    }
    CHECK(shared == Approx(alone).epsilon(0.02));
  }
}

TEST_CASE("no wake-up is lost between the look at the word and the sleep", "[futex][scheduler]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  const bool looks_again = GENERATE(true, false);
  int deadlocks = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Engine engine(seed);
    engine.set_step_limit(5'000'000);
    const Host host = test::small_host();
    SchedulerParameters parameters = fair(policy);
    parameters.slice = 5_us; // the waiter often loses its core on its way to sleep
    parameters.latency = 5_us;
    Scheduler scheduler(engine, host, 0, parameters, 1);
    Futex futex(engine, host, "word");
    int produced = 0;
    scheduler.spawn("consumer", {}, [&](SimThread& self) {
      RandomStream random = engine.stream("consumer");
      for (int taken = 0; taken < 50; ++taken) {
        while (produced <= taken) {
          futex.wait(self, Category::blocked, [&] { return !looks_again || produced <= taken; });
        }
        self.spend(random.exponential(6_us), Category::software);
      }
    });
    scheduler.spawn("producer", {}, [&](SimThread& self) {
      RandomStream random = engine.stream("producer");
      for (int k = 0; k < 50; ++k) {
        self.spend(random.exponential(7_us), Category::software);
        ++produced;
        futex.wake(self, 1, Category::software);
      }
    });
    try {
      engine.run();
    } catch (const Deadlock&) {
      ++deadlocks;
    }
    engine.abandon();
  }
  if (looks_again) {
    CHECK(deadlocks == 0);
  } else {
    CHECK(deadlocks > 0); // the provocation works: without the look under the kernel's lock the last wake-up gets lost
  }
}

TEST_CASE("every lock ends where each switch takes more than a slice", "[locks][scheduler]") {
  SchedulerParameters parameters = fair(GENERATE("cfs", "eevdf"));
  parameters.latency = 6_us;
  parameters.slice = 3_us;
  parameters.cache_refill = 4_us;
  for (const std::string& kind : lock_registry().names()) {
    CAPTURE(kind, parameters.policy);
    CHECK_NOTHROW(contend_for(kind, parameters, 1, 3, 20, 100_ns, 100_ns));
  }
}

TEST_CASE("who has no core does not look, and naps later for it", "[locks][scheduler]") {
  LockParameters prices = test::small_locks();
  prices.nap_after = 1'000'000; // 6 ms
  prices.nap = 200_ms;
  Engine engine(1);
  const Host host = test::small_host();
  Scheduler scheduler(engine, host, 0, fair("eevdf"), 2);
  const auto lock = lock_registry().at("ttas")(engine, host, prices, "lock");
  const auto on = [](int core) {
    Scheduler::Placement placement;
    placement.allowed.set(static_cast<std::size_t>(core));
    return placement;
  };
  const Duration turn = prices.pause + test::cache.hit;
  const Duration spins = turn * prices.nap_after;
  scheduler.spawn("holder", on(0), [&](SimThread& self) {
    lock->lock(self);
    self.spend(4 * spins, Category::software); // the waiter is in its first nap by then
    lock->unlock(self);
  });
  scheduler.spawn("rival", on(1), [&](SimThread& self) { self.spend(4 * spins, Category::software); });
  scheduler.spawn("waiter", on(1), [&](SimThread& self) {
    self.spend(1_us, Category::software);
    lock->lock(self);
    CHECK(2 * self.without_core() > spins);
    const Duration spun = self.now().since_start() - self.without_core() - prices.nap;
    CHECK(spun > spins);
    CHECK(20 * (spun - spins) < spins);
    lock->unlock(self);
  });
  engine.run();
}
