// Locks that may run the critical sections of threads that wait: by their holder, or in a thread of their own.
#include "core/scheduler.hpp"
#include "models/locks/lock.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace contend;

namespace {

std::unique_ptr<Lock> make(const std::string& kind, Engine& engine, const Host& host) {
  LockParameters parameters = test::small_locks();
  parameters.nap_after = 4000;
  parameters.nap = 500_us;
  return lock_registry().at(kind)(engine, host, parameters, "lock");
}

/// Returns it, or nullptr: the lock has none.
SimThread* spawn_own_thread(Lock& lock, Engine& engine, int core) {
  SimThread::Body body = lock.own_thread();
  return body ? &engine.spawn_daemon("own thread", 0, core, std::move(body)) : nullptr;
}

} // namespace

TEST_CASE("a section is run once, alone, and before execute() returns", "[locks][delegation][property]") {
  const bool home_order = GENERATE(false, true);
  for (const std::string& kind : lock_registry().names()) {
    CAPTURE(kind, home_order);
    Engine engine(5);
    const Host host = test::flat_host(home_order ? test::home_ordered() : test::cache);
    const auto lock = make(kind, engine, host);
    constexpr int threads = 9;
    constexpr int times = 150;
    int inside = 0;
    int run = 0;
    std::uint64_t run_by_others = 0;
    SimThread* const own = spawn_own_thread(*lock, engine, threads);
    for (int i = 0; i < threads; ++i) {
      engine.spawn("t" + std::to_string(i), 0, i, [&](SimThread& self) {
        RandomStream random = engine.stream(self.name());
        for (int k = 0; k < times; ++k) {
          self.spend(random.exponential(400_ns), Category::compute);
          bool mine_was_run = false;
          if (k % 3 == 0) { // both ways at once
            lock->lock(self);
            REQUIRE(++inside == 1);
            self.spend(50_ns, Category::software);
            REQUIRE(inside-- == 1);
            lock->unlock(self);
            continue;
          }
          lock->execute(self, [&](SimThread& runner) {
            REQUIRE(++inside == 1);
            REQUIRE(lock->holder() == &runner);
            runner.spend(50_ns, Category::software);
            REQUIRE_FALSE(mine_was_run);
            mine_was_run = true;
            ++run;
            run_by_others += &runner != &self ? 1 : 0;
            REQUIRE(inside-- == 1);
          });
          REQUIRE(mine_was_run);
        }
      });
    }
    engine.run();
    CHECK(run == threads * 100);
    CHECK(lock->delegated() == run_by_others);
    CHECK(lock->contended() <= lock->acquisitions()); // a section that another thread runs is none
    if (own == nullptr) {
      CHECK(lock->acquisitions() + lock->delegated() == threads * times);
      CHECK(lock->quiet());
    } else { // which takes the lock for many sections at once
      CHECK(lock->acquisitions() > threads * 50);
    }
    CHECK((run_by_others > 0) == (kind == "distributed-mutex" || own != nullptr));
    engine.abandon();
  }
}

TEST_CASE("sections that are run for others keep what they guard in one cache", "[locks][delegation]") {
  const auto transfers = [](bool delegates) {
    Engine engine(3);
    const Host host = test::flat_host(test::home_ordered());
    const auto lock = make("distributed-mutex", engine, host);
    CacheLine guarded(engine, host, "guarded");
    for (int i = 0; i < 8; ++i) {
      engine.spawn("t" + std::to_string(i), 0, i, [&](SimThread& self) {
        const auto section = [&](SimThread& runner) { guarded.store_guarded(runner, Category::software); };
        for (int k = 0; k < 100; ++k) {
          if (delegates) {
            lock->execute(self, section);
          } else {
            lock->lock(self);
            section(self);
            lock->unlock(self);
          }
        }
      });
    }
    engine.run();
    return guarded.transfers();
  };
  CHECK(2 * transfers(true) < transfers(false));
}

TEST_CASE("a distributed mutex serves those behind its holder, and three times those who came meanwhile",
          "[locks][delegation]") {
  Engine engine(3);
  const Host host = test::flat_host(test::home_ordered());
  const auto lock = make("distributed-mutex", engine, host);
  std::vector<int> in_turn; ///< sections that one thread ran after each other, its own first
  const SimThread* runs = nullptr;
  for (int i = 0; i < 3; ++i) {
    engine.spawn("t" + std::to_string(i), 0, i, [&](SimThread& self) {
      for (int k = 0; k < 60; ++k) {
        lock->execute(self, [&](SimThread& runner) {
          if (std::exchange(runs, &runner) != &runner) {
            in_turn.push_back(0);
          }
          ++in_turn.back();
          runner.spend(2_us, Category::software); // time enough for one of the others to come back
        });
      }
    });
  }
  engine.run();
  in_turn.pop_back(); // of whoever is left over
  CHECK(in_turn.size() > 20);
  for (const int sections : in_turn) {
    CHECK(sections == 1 + 1 + 3);
  }
}

TEST_CASE("a waiting thread without a core does not get the lock, and is not forgotten",
          "[locks][delegation][scheduler]") {
  const int threads = GENERATE(3, 11);
  Engine engine(23);
  engine.set_step_limit(50'000'000);
  const Host host = test::flat_host(test::home_ordered());
  SchedulerParameters fair;
  fair.policy = "cfs";
  fair.latency = 6_ms;
  fair.slice = 750_us;
  fair.wakeup_granularity = 1_ms;
  fair.context_switch = 1_us;
  Scheduler scheduler(engine, host, 0, fair, 2);
  const auto lock = make("distributed-mutex", engine, host);
  constexpr int times = 3000;
  int done = 0;
  Duration without_core;
  for (int i = 0; i < threads; ++i) {
    scheduler.spawn("t" + std::to_string(i), {}, [&](SimThread& self) {
      for (int k = 0; k < times; ++k) {
        lock->lock(self);
        const Duration waited = self.charged(Category::run_queue);
        self.spend(300_ns, Category::software);
        without_core += self.charged(Category::run_queue) - waited; // the holder itself can lose its core
        ++done;
        lock->unlock(self);
        self.spend(200_ns, Category::compute);
      }
    });
  }
  engine.run();
  CHECK(done == threads * times);
  // A lock that went to threads without a core would stand still for a slice at nearly every hand-over.
  const Duration useful = 300_ns * (threads * times);
  CHECK(engine.last_end().since_start() - without_core < 10 * useful);
  engine.abandon();
}

TEST_CASE("a lock's own thread sleeps until it is needed, and is woken", "[locks][delegation]") {
  const std::string kind = GENERATE("flat-combining", "flat-combining-pooled");
  Engine engine(3);
  const Host host = test::flat_host(test::home_ordered());
  const auto lock = make(kind, engine, host);
  SimThread& own = *spawn_own_thread(*lock, engine, 3);
  SimThread* runner_of_second = nullptr;
  TimePoint held_until;
  TimePoint done;
  engine.spawn("first", 0, 0, [&](SimThread& self) {
    self.spend(50_us, Category::compute); // the own thread sleeps by now
    lock->execute(self, [&](SimThread& runner) {
      CHECK(&runner == &self);
      runner.spend(20_us, Category::software);
    });
    held_until = self.now();
  });
  engine.spawn("second", 0, 1, [&](SimThread& self) {
    self.spend(60_us, Category::compute);
    lock->execute(self, [&](SimThread& runner) {
      runner_of_second = &runner;
      runner.spend(1_us, Category::software);
    });
    done = self.now();
  });
  engine.run();
  CHECK(runner_of_second == &own);
  CHECK(lock->delegated() == 1);
  CHECK(done > held_until);
  CHECK(done < held_until + 20_us);
  CHECK(own.charged(Category::poll_idle) > 50_us);
  engine.abandon();
}

TEST_CASE("who asks seldom is served as well as who asks often", "[locks][delegation]") {
  Engine engine(9);
  const Host host = test::flat_host(test::home_ordered());
  const auto lock = make("flat-combining", engine, host);
  spawn_own_thread(*lock, engine, 5);
  constexpr int often = 400;
  int run = 0;
  const auto section = [&](SimThread& runner) {
    runner.spend(200_ns, Category::software);
    ++run;
  };
  for (int i = 0; i < 4; ++i) {
    engine.spawn("busy" + std::to_string(i), 0, i, [&](SimThread& self) {
      for (int k = 0; k < often; ++k) {
        lock->execute(self, section);
      }
    });
  }
  engine.spawn("seldom", 0, 4, [&](SimThread& self) {
    for (int k = 0; k < 5; ++k) {
      lock->execute(self, section);
      self.spend(60_us, Category::compute); // many passes
    }
  });
  engine.run();
  CHECK(run == 4 * often + 5);
  engine.abandon();
}

TEST_CASE("a lock whose own thread nobody spawned runs sections where they are", "[locks][delegation]") {
  Engine engine(9);
  const Host host = test::flat_host(test::home_ordered());
  const auto lock = make("flat-combining", engine, host);
  for (int i = 0; i < 4; ++i) {
    engine.spawn("t" + std::to_string(i), 0, i, [&](SimThread& self) {
      for (int k = 0; k < 50; ++k) {
        lock->execute(self, [&](SimThread& runner) {
          CHECK(&runner == &self);
          runner.spend(100_ns, Category::software);
        });
      }
    });
  }
  engine.run();
  CHECK(lock->acquisitions() == 200);
  CHECK(lock->delegated() == 0);
}

TEST_CASE("who runs its own section counts it beside the table of records, where others look first",
          "[locks][delegation][oracle]") {
  const auto price_after_another = [](const char* kind) {
    Engine engine(9);
    const Host host = test::flat_host();
    const auto lock = make(kind, engine, host);
    spawn_own_thread(*lock, engine, 3);
    Duration spent;
    for (int turn = 0; turn < 4; ++turn) { // two threads in turn
      engine.spawn("t" + std::to_string(turn), 0, turn % 2, [&, turn](SimThread& self) {
        self.spend(50_us * (turn + 1), Category::compute);
        const TimePoint start = self.now();
        lock->execute(self, [](SimThread& /*runner*/) {});
        spent = self.now() - start;
      });
    }
    engine.run();
    engine.abandon();
    return spent;
  };
  const auto [hit, atomic, move] = std::tuple{test::cache.hit, test::cache.atomic_hit, test::cache.transfer_socket};
  // The mutex moves once, the counts twice: they are read and written. The table is read with them.
  const Duration counted = 2 * atomic + 3 * hit + move + 2 * move;
  CHECK(price_after_another("flat-combining") == counted + hit);
  CHECK(price_after_another("flat-combining-pooled") == counted + 2 * (12_ns + hit + atomic));
}

TEST_CASE("a record from a pool is fetched and given back for every section", "[locks][delegation][oracle]") {
  const auto price = [](const char* kind) {
    Engine engine(9);
    const Host host = test::flat_host();
    const auto lock = make(kind, engine, host);
    spawn_own_thread(*lock, engine, 3);
    Duration spent;
    engine.spawn("t", 0, 0, [&](SimThread& self) {
      for (int round = 0; round < 3; ++round) { // the lines come into this core's cache
        const TimePoint start = self.now();
        lock->execute(self, [](SimThread& /*runner*/) {});
        spent = self.now() - start;
      }
    });
    engine.run();
    engine.abandon();
    return spent;
  };
  const Duration hit = test::cache.hit;
  const Duration atomic = test::cache.atomic_hit;
  const Duration counted = 2 * atomic + 3 * hit; // taken, counted, no combining by oneself, given back
  CHECK(price("flat-combining") == hit + counted);
  CHECK(price("flat-combining-pooled") == counted + 2 * (12_ns + hit + atomic));
}
