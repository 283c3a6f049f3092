// What sets the kinds of locks apart: order, hand-over, collapse, sleep and priority.
#include "core/cache_line.hpp"
#include "core/futex.hpp"
#include "models/locks/lock.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

using namespace contend;
using test::cache;
using test::pause_time;

namespace {

/// One socket of 16 cores: every transfer takes as long.
Host flat_host(bool home_order = false) {
  CacheParameters prices = cache;
  prices.home_order = home_order;
  FutexParameters futex = test::small_futex();
  futex.yield_call = 403'001_ps;
  return {TopologyParameters{1, 16, 1}, prices, futex};
}

struct Saturated {
  Duration period;                ///< mean time from one acquisition to the next
  std::vector<int> order;         ///< of acquisitions, by thread
  std::vector<std::int64_t> each; ///< acquisitions by thread, while all were still at work
};

/// All threads always want the lock.
Saturated saturate(const std::string& kind, int threads, Duration section, bool home_order = false,
                   const LockParameters& parameters = test::small_locks()) {
  Engine engine(11);
  const Host host = flat_host(home_order);
  const auto lock = lock_registry().at(kind)(engine, host, parameters, "lock");
  Saturated result;
  result.each.resize(static_cast<std::size_t>(threads));
  std::vector<TimePoint> taken;
  const auto all = static_cast<std::size_t>(threads) * 200;
  for (int i = 0; i < threads; ++i) {
    engine.spawn("t" + std::to_string(i), 0, i, [&, i](SimThread& self) {
      while (taken.size() < all) {
        lock->lock(self);
        taken.push_back(self.now());
        result.order.push_back(i);
        ++result.each[static_cast<std::size_t>(i)];
        self.spend(section, Category::software);
        lock->unlock(self);
      }
    });
  }
  engine.run();
  const std::size_t first = all / 10;
  result.period =
      Duration::picoseconds((taken[all - 1] - taken[first]).count() / static_cast<std::int64_t>(all - 1 - first));
  return result;
}

double ratio(Duration a, Duration b) { return static_cast<double>(a.count()) / static_cast<double>(b.count()); }

} // namespace

TEST_CASE("what an uncontended acquisition and release of each further kind touch", "[locks][oracle]") {
  struct Costs {
    Duration lock;
    Duration unlock;
  };
  const Duration atomic = cache.atomic_hit;
  const Duration hit = cache.hit;
  const std::map<std::string, Costs> expected{
      {"tas", {atomic, hit}},
      {"tas-bit", {atomic, atomic}},
      {"clh", {hit + atomic + hit, hit}}, // own node, swap, node of the one before
      {"adaptive", {atomic, atomic}},
      {"mutex3", {atomic, atomic}},
      {"parking-lot", {atomic, atomic}},
      {"ttas-futex", {hit + atomic, hit + atomic}},
      {"ttas-yield", {hit + atomic, hit}},
      {"ticket-yield", {atomic + hit, hit}},
      {"ticket-blocking", {atomic + hit, atomic + hit + atomic}}, // the unlock takes the inner mutex
      {"queued-mutex", {2 * atomic + hit, 2 * atomic + 2 * hit}},
      {"queued-spinlock", {atomic, hit}},
      {"priority", {2 * (atomic + hit), 3 * hit}}, // two tickets; a look for others, then both given back
  };
  for (const auto& [kind, costs] : expected) {
    CAPTURE(kind);
    Engine engine(1);
    const Host host = flat_host();
    const auto lock = lock_registry().at(kind)(engine, host, test::small_locks(), "lock");
    engine.spawn("t", 0, 0, [&, costs = costs](SimThread& self) {
      for (int round = 0; round < 2; ++round) { // the lines come into this core's cache
        lock->lock(self);
        lock->unlock(self);
      }
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

TEST_CASE("queue locks serve threads in turn", "[locks][fairness]") {
  for (const bool home_order : {false, true}) {
    for (const char* kind : {"mcs", "clh", "ticket", "ticket-yield", "ticket-blocking", "queued-mutex"}) {
      CAPTURE(kind, home_order);
      constexpr int threads = 5;
      const Saturated result = saturate(kind, threads, 20_us, home_order); // longer than it takes to queue up again
      const auto [least, most] = std::minmax_element(result.each.begin(), result.each.end());
      CHECK(*most - *least <= 1);
      for (std::size_t i = 2 * threads; i < result.order.size() - 2 * threads; ++i) {
        REQUIRE(result.order[i] == result.order[i - threads]);
      }
    }
  }
}

TEST_CASE("the pending bit of a queued spin lock lets one thread pass the queue at most once", "[locks][fairness]") {
  const Saturated result = saturate("queued-spinlock", 6, 20_us);
  const auto [least, most] = std::minmax_element(result.each.begin(), result.each.end());
  CHECK(*most - *least <= 2);
}

TEST_CASE("a saturated CLH lock hands over in two transfers and a pause", "[locks][oracle]") {
  constexpr Duration section = 2_us;
  const Duration write_own_node = cache.transfer_socket + cache.hit; // the one behind has a copy
  const Duration read_it = cache.transfer_socket + cache.hit;
  for (const int threads : {2, 3, 6}) {
    CAPTURE(threads);
    CHECK(saturate("clh", threads, section).period == section + write_own_node + pause_time + read_it);
  }
}

TEST_CASE("hand-over of queue locks does not depend on the number of threads", "[locks][scaling]") {
  for (const bool home_order : {false, true}) {
    for (const char* kind : {"mcs", "clh"}) {
      CAPTURE(kind, home_order);
      const double growth =
          ratio(saturate(kind, 16, 2_us, home_order).period - 2_us, saturate(kind, 4, 2_us, home_order).period - 2_us);
      CHECK(growth > 0.8);
      CHECK(growth < 1.2);
    }
  }
}

TEST_CASE("test-and-set collapses: every hand-over waits for the attempts of all others", "[locks][oracle]") {
  // When a thread gets the lock the line goes on to others at once. Its release is drawn among those that wait: n - 1
  // attempts fail before on average. Then come the release and the attempt that succeeds: n + 1 transfers.
  const Duration transfer = cache.transfer_socket + cache.atomic_hit;
  for (const bool home_order : {false, true}) {
    for (const int threads : {4, 8, 16}) {
      CAPTURE(threads, home_order);
      const double transfers = ratio(saturate("tas", threads, 0_ps, home_order).period, transfer);
      CHECK(transfers > 0.85 * (threads + 1));
      CHECK(transfers < 1.15 * (threads + 1));
    }
  }
}

TEST_CASE("threads that only look do not keep the holder from its line", "[locks][scaling]") {
  // A long section: all attempts have failed before the release.
  for (const bool home_order : {false, true}) {
    CAPTURE(home_order);
    const Duration ttas = saturate("ttas", 12, 5_us, home_order).period - 5_us;
    const Duration tas = saturate("tas", 12, 5_us, home_order).period - 5_us;
    CHECK(ratio(tas, ttas) > 2.0);
  }
}

TEST_CASE("an adaptive mutex does not sleep for a short section", "[locks]") {
  LockParameters parameters = test::small_locks();
  const auto wait_of_one = [&](Duration section) {
    Engine engine(1);
    const Host host = flat_host();
    const auto lock = lock_registry().at("adaptive")(engine, host, parameters, "lock");
    Duration waited;
    for (int i = 0; i < 2; ++i) {
      engine.spawn("t" + std::to_string(i), 0, i, [&, i](SimThread& self) {
        self.spend(i * 20_ns, Category::software);
        lock->lock(self);
        waited = std::max(waited, test::spent(self, Category::lock_wait));
        self.spend(section, Category::software);
        lock->unlock(self);
      });
    }
    engine.run();
    return waited;
  };
  const Duration round_trip = test::small_futex().wait_call + test::small_futex().wake_call;
  CHECK(wait_of_one(200_ns) < round_trip);
  CHECK(wait_of_one(20_us) > 20_us + test::small_futex().wake_latency); // ten attempts, then sleep
  parameters.adaptive_spins = 0;
  CHECK(wait_of_one(200_ns) > test::small_futex().wait_call); // it enters the kernel at once
}

TEST_CASE("a thread that yields looks once per call of sched_yield", "[locks][oracle]") {
  const Duration yield = flat_host().futex().yield_call;
  for (const char* kind : {"ttas-yield", "ticket-yield"}) {
    for (const Duration release : {1_us, 1'300'017_ps, 2_us}) {
      CAPTURE(kind, release);
      Engine engine(1);
      const Host host = flat_host();
      const auto lock = lock_registry().at(kind)(engine, host, test::small_locks(), "lock");
      engine.spawn("holder", 0, 0, [&](SimThread& self) {
        lock->lock(self);
        self.spend(TimePoint::at(release) - self.now(), Category::software);
        lock->unlock(self);
      });
      engine.spawn("waiter", 0, 1, [&](SimThread& self) {
        self.spend(200_ns, Category::software);
        lock->lock(self);
        const Duration transfers = 3 * (cache.transfer_socket + cache.atomic_hit);
        CHECK(test::clock(self) > release);
        CHECK(test::clock(self) < release + yield + transfers);
        lock->unlock(self);
      });
      engine.run();
    }
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

TEST_CASE("a spin lock with a futex sleeps after so many looks, and its release wakes one after the other", "[locks]") {
  const auto after_release = [](int looks) {
    Engine engine(3);
    const Host host = flat_host();
    LockParameters parameters = test::small_locks();
    parameters.adaptive_spins = looks;
    const auto lock = lock_registry().at("ttas-futex")(engine, host, parameters, "lock");
    TimePoint released;
    std::vector<TimePoint> taken;
    engine.spawn("holder", 0, 0, [&](SimThread& self) {
      lock->lock(self);
      self.spend(1_ms, Category::software);
      released = self.now();
      lock->unlock(self);
    });
    for (int core = 1; core < 4; ++core) {
      engine.spawn("waiter", 0, core, [&](SimThread& self) {
        self.spend(1_us, Category::software);
        lock->lock(self);
        taken.push_back(self.now());
        lock->unlock(self);
      });
    }
    engine.run();
    REQUIRE(taken.size() == 3);
    return std::vector<Duration>{taken.front() - released, taken.back() - released};
  };
  const Duration waking = test::small_futex().wake_latency;
  CHECK(after_release(1'000'000).back() < waking); // still looking
  CHECK(after_release(10).front() >= waking);
  CHECK(after_release(10).back() >=
        3 * waking); // each takes the lock as one for which others sleep, and wakes the next
}

TEST_CASE("a parking-lot mutex is taken by who comes along, and now and then handed to who sleeps", "[locks]") {
  // A holder that is back at once after each release: whoever sleeps has the lock only if it is handed over.
  constexpr int rounds = 2000;
  Engine engine(5);
  const Host host = flat_host();
  const auto lock = lock_registry().at("parking-lot")(engine, host, test::small_locks(), "lock");
  std::vector<int> taken(3);
  TimePoint end;
  for (int number = 0; number < 3; ++number) {
    engine.spawn("t" + std::to_string(number), 0, number, [&, number](SimThread& self) {
      for (int round = 0; round < rounds; ++round) {
        lock->lock(self);
        self.spend(10_us, Category::software);
        lock->unlock(self);
        ++taken[static_cast<std::size_t>(number)];
        if (engine.now() - TimePoint{} > 10_ms) {
          break;
        }
      }
      end = self.now();
    });
  }
  engine.run();
  const auto [least, most] = std::minmax_element(taken.begin(), taken.end());
  // On average a hand-over in each half of a millisecond, within 10 ms: each sleeper has several, and nobody all.
  CHECK(*least >= 3);
  CHECK(lock->acquisitions() == static_cast<std::uint64_t>(taken[0] + taken[1] + taken[2]));
  CHECK(*most < rounds);
}

TEST_CASE("a parking-lot mutex spins for ten turns before it sleeps", "[locks]") {
  const LockParameters parameters = test::small_locks();
  const auto waited = [&](Duration held) {
    Engine engine(3);
    const Host host = flat_host();
    const auto lock = lock_registry().at("parking-lot")(engine, host, parameters, "lock");
    TimePoint released;
    TimePoint taken;
    engine.spawn("holder", 0, 0, [&](SimThread& self) {
      lock->lock(self);
      self.spend(held, Category::software);
      released = self.now();
      lock->unlock(self);
    });
    engine.spawn("waiter", 0, 1, [&](SimThread& self) {
      self.spend(1_ns, Category::software);
      lock->lock(self);
      taken = self.now();
    });
    engine.run();
    return taken - released;
  };
  const Duration waking = test::small_futex().wake_latency;
  CHECK(waited(parameters.pause * 10) < waking); // within 2 + 4 + 8 pauses
  CHECK(waited(parameters.pause * 1000) >= waking);
}

TEST_CASE("hardware threads of a core have a line one after the other", "[locks]") {
  TopologyParameters topology{1, 4, 2};
  CacheParameters prices = test::small_cache();
  prices.home_order = true;
  const auto order = [&](bool siblings) {
    Engine engine(1);
    const Host host(topology, prices, test::small_futex());
    CacheLine line(engine, host, "line");
    std::vector<int> cores;
    for (int core = 0; core < 8; core += siblings ? 1 : 2) {
      engine.spawn("t" + std::to_string(core), 0, core, [&, core](SimThread& self) {
        for (int round = 0; round < 50; ++round) {
          line.atomic(self, Category::line_transfer);
          cores.push_back(core / 2);
        }
      });
    }
    engine.run();
    int moves = 0;
    for (std::size_t i = 1; i < cores.size(); ++i) {
      moves += cores[i] != cores[i - 1] ? 1 : 0;
    }
    return std::pair{moves, static_cast<int>(cores.size())};
  };
  const auto [moves, operations] = order(true);
  CHECK(operations == 400);
  CHECK(moves < operations * 6 / 10);   // by twos
  CHECK(moves > operations * 35 / 100); // and then to another core, until some have finished
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
    // It looks at once, spins on its copy until that is taken, naps, and looks again.
    CHECK(test::clock(self) >= parameters.pause * 200 + parameters.nap);
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

TEST_CASE("one call that wakes many pays for each", "[locks][futex]") {
  FutexParameters prices = test::small_futex();
  prices.wake_further = 500'003_ps;
  const Host host{TopologyParameters{1, 16, 1}, cache, prices};
  Engine engine(1);
  Futex futex(engine, host, "futex");
  std::vector<TimePoint> back;
  for (int i = 0; i < 4; ++i) {
    engine.spawn("t" + std::to_string(i), 0, i, [&](SimThread& self) {
      CHECK(futex.wait(self, Category::blocked, [] { return true; }));
      back.push_back(self.now());
    });
  }
  engine.spawn("waker", 0, 9, [&](SimThread& self) {
    self.spend(10_us, Category::software);
    CHECK(futex.wake(self, 4, Category::software) == 4);
    CHECK(test::clock(self) == 10_us + prices.wake_call + 3 * prices.wake_further);
  });
  engine.run();
  REQUIRE(back.size() == 4);
  for (int i = 0; i < 4; ++i) {
    CHECK(back[static_cast<std::size_t>(i)] ==
          TimePoint::at(10_us + prices.wake_call + i * prices.wake_further + prices.wake_latency));
  }
}
