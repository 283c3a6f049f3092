// What sets the kinds of locks apart: price, order, hand-over and collapse.
#include "models/locks/lock.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace contend;
using test::cache;
using test::flat_host;
using test::pause_time;

namespace {

struct Saturated {
  Duration period;                ///< mean time from one acquisition to the next
  std::vector<int> order;         ///< of acquisitions, by thread
  std::vector<std::int64_t> each; ///< acquisitions by thread, while all were still at work
};

/// All threads always want the lock.
Saturated saturate(const std::string& kind, int threads, Duration section, bool home_order = false,
                   const LockParameters& parameters = test::small_locks()) {
  Engine engine(11);
  const Host host = flat_host(home_order ? test::home_ordered() : cache);
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
      {"shared-mutex", {hit + atomic, hit + atomic}},
      {"distributed-mutex", {atomic, atomic}},
      {"flat-combining", {atomic, atomic}},
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

TEST_CASE("an attempt that compares in vain has only read, where comparing is reading and then storing",
          "[locks][oracle]") {
  CacheParameters load_linked = cache;
  load_linked.load_linked = true;
  load_linked.atomic_hit = 1_us; // more than all reads together
  // Test-and-set swaps, and an attempt at a queued mutex takes the lock of its queue.
  const std::set<std::string> swap{"tas", "tas-bit", "ttas", "ttas-eager", "ttas-yield", "queued-mutex"};
  for (const std::string& kind : lock_registry().names()) {
    if (swap.contains(kind)) {
      continue;
    }
    INFO("a lock \"" << kind << "\" whose attempts write whatever they find belongs in the list `swap`");
    Engine engine(1);
    const Host host = flat_host(load_linked);
    const auto lock = lock_registry().at(kind)(engine, host, test::small_locks(), "lock");
    engine.spawn("holder", 0, 0, [&](SimThread& self) {
      lock->lock(self);
      self.spend(1_ms, Category::software);
      lock->unlock(self);
    });
    engine.spawn("trier", 0, 1, [&](SimThread& self) {
      self.spend(100_us, Category::software);
      CHECK_FALSE(lock->try_lock(self)); // fetches what it looks at
      const TimePoint start = self.now();
      CHECK_FALSE(lock->try_lock(self));
      CHECK(self.now() - start < load_linked.atomic_hit);
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
