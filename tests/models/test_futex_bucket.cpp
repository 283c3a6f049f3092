// Futex calls that several threads make on one word: they take turns, and nobody who is to be woken sleeps on.
#include "core/futex.hpp"
#include "core/scheduler.hpp"
#include "models/locks/pthread_mutex.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

using namespace contend;

namespace {

FutexParameters prices_in_turns() {
  FutexParameters prices = test::small_futex();
  prices.vain_call = 301'007_ps;
  prices.bucket_move = 191'003_ps;
  prices.bucket_turn = 503'003_ps;
  return prices;
}

Host host_in_turns(Duration jitter = {}) {
  FutexParameters prices = prices_in_turns();
  prices.call_jitter = jitter;
  return {TopologyParameters{1, 16, 1}, test::small_cache(), prices};
}

/// What a call of one of so many threads takes that find their word changed, all the time.
Duration vain_call(int threads) {
  constexpr int calls = 400;
  Engine engine(1);
  const Host host = host_in_turns(10_ns);
  Futex futex(engine, host, "f");
  for (int i = 0; i < threads; ++i) {
    engine.spawn("t" + std::to_string(i), 0, i, [&](SimThread& self) {
      for (int call = 0; call < calls; ++call) {
        futex.wait(self, Category::blocked, [] { return false; });
      }
    });
  }
  engine.run();
  return test::clock(engine).scaled(1.0 / calls);
}

} // namespace

TEST_CASE("a call that finds its word changed compares in its middle", "[futex]") {
  Engine engine(1);
  const Host host = host_in_turns();
  Futex futex(engine, host, "f");
  bool wanted = true;
  engine.spawn("waiter", 0, 0, [&](SimThread& self) {
    CHECK_FALSE(futex.wait(self, Category::blocked, [&] { return wanted; }));
    CHECK(test::clock(self).in_nanoseconds() == Approx(prices_in_turns().vain_call.in_nanoseconds()));
  });
  engine.spawn("changer", 0, 1, [&](SimThread& self) {
    self.spend(prices_in_turns().vain_call.scaled(0.5) - 1_ns, Category::software);
    self.settle();
    wanted = false;
  });
  engine.run();
}

TEST_CASE("a word that changes after the comparison is not seen", "[futex]") {
  Engine engine(1);
  const Host host = host_in_turns();
  Futex futex(engine, host, "f");
  bool wanted = true;
  engine.spawn("sleeper", 0, 0,
               [&](SimThread& self) { CHECK(futex.wait(self, Category::blocked, [&] { return wanted; })); });
  engine.spawn("changer", 0, 1, [&](SimThread& self) {
    self.spend(prices_in_turns().vain_call.scaled(0.5) + 1_ns, Category::software);
    self.settle();
    wanted = false;
    CHECK(futex.sleepers() == 1);
    CHECK(futex.wake(self, 1, Category::completion) == 1);
  });
  engine.run();
}

TEST_CASE("calls on one word take turns", "[futex]") {
  const FutexParameters prices = prices_in_turns();
  const double alone = vain_call(1).in_nanoseconds();
  CHECK(alone == Approx((prices.vain_call + 10_ns).in_nanoseconds()).epsilon(0.01));
  // Two threads: each finds the queue in the other one's cache. Now and then one has to wait for the other as well.
  const double two = vain_call(2).in_nanoseconds();
  CHECK(two > alone + 0.95 * prices.bucket_move.in_nanoseconds());
  CHECK(two < alone + 2 * prices.bucket_move.in_nanoseconds());
  // Many: the lock is never free, and a call takes as many turns as there are threads.
  for (const int threads : {8, 16}) {
    CHECK(vain_call(threads).in_nanoseconds() == Approx(threads * prices.bucket_turn.in_nanoseconds()).epsilon(0.03));
  }
}

TEST_CASE("a call that changes the queue keeps the bucket for the lines of its elements", "[futex]") {
  // So many sleep already; then one more comes, or one of them is woken, and right behind it a call that compares.
  const bool wakes = GENERATE(false, true);
  const int asleep = GENERATE(1, 2, 3);
  const int seed = GENERATE(range(1, 21));
  Engine engine(static_cast<std::uint64_t>(seed));
  const Host host = host_in_turns();
  Futex futex(engine, host, "f");
  for (int i = 0; i < asleep; ++i) {
    engine.spawn("sleeper " + std::to_string(i), 0, i, [&, i](SimThread& self) {
      self.spend(i * 10_us, Category::software);
      futex.wait(self, Category::blocked, [] { return true; });
    });
  }
  engine.spawn("changer", 0, 10, [&](SimThread& self) {
    self.spend(100_us, Category::software);
    if (wakes) {
      futex.wake(self, 1, Category::completion);
    } else {
      futex.wait(self, Category::blocked, [] { return true; });
    }
  });
  TimePoint compared;
  engine.spawn("comparer", 0, 11, [&](SimThread& self) {
    self.spend(100'010_ns, Category::software);
    futex.wait(self, Category::blocked, [&] {
      compared = self.now();
      return false;
    });
    self.spend(100_us, Category::software);
    futex.wake(self, 100, Category::completion);
  });
  engine.run();
  const FutexParameters prices = prices_in_turns();
  const Duration line = test::small_cache().transfer_socket;
  const Duration at_bucket = wakes ? prices.empty_wake_call.scaled(0.5) + line : prices.vain_call.scaled(0.5);
  // To wake: two lines of the element and two of its thread, and the next element's; to sleep: the first and the last element's.
  const int lines = wakes ? (asleep > 1 ? 5 : 4) : std::min(asleep, 2);
  // Changer and comparer each fetch the bucket, in half to one and a half times the price of that.
  const Duration others = compared.since_start() - 100_us - at_bucket - lines * line;
  CAPTURE(wakes, asleep, seed, others.count());
  CHECK(others >= prices.bucket_move);
  CHECK(others <= 3 * prices.bucket_move);
}

TEST_CASE("who wakes while nobody sleeps or is about to does not take the lock", "[futex]") {
  Engine engine(1);
  const Host host = host_in_turns();
  Futex futex(engine, host, "f");
  engine.spawn("waker", 0, 0, [&](SimThread& self) {
    for (int call = 0; call < 3; ++call) {
      CHECK(futex.wake(self, 1, Category::completion) == 0);
    }
    CHECK(test::spent(self, Category::completion).in_nanoseconds() ==
          Approx(3 * prices_in_turns().empty_wake_call.in_nanoseconds()));
  });
  engine.run();
}

TEST_CASE("a profile whose wake-ups cost less than finding nobody lets no time run backwards", "[futex]") {
  FutexParameters prices = prices_in_turns();
  prices.wake_call = {};
  prices.empty_wake_call = 5_us;
  Engine engine(1);
  const Host host{TopologyParameters{1, 16, 1}, test::small_cache(), prices};
  Futex futex(engine, host, "f");
  engine.spawn("sleeper", 0, 0, [&](SimThread& self) { futex.wait(self, Category::blocked, [] { return true; }); });
  engine.spawn("waker", 0, 1, [&](SimThread& self) {
    self.spend(10_us, Category::software);
    const Duration before = test::clock(self);
    CHECK(futex.wake(self, 1, Category::completion) == 1);
    CHECK(test::clock(self) >= before + 5_us);
  });
  engine.run();
}

TEST_CASE("who is woken before its core is given up does not sleep", "[futex]") {
  Engine engine(1);
  const Host host = host_in_turns();
  const FutexParameters prices = prices_in_turns();
  Futex futex(engine, host, "f");
  engine.spawn("sleeper", 0, 0, [&](SimThread& self) {
    CHECK(futex.wait(self, Category::blocked, [] { return true; }));
    CHECK(test::clock(self) == prices.wait_call); // no latency of a wake-up
  });
  engine.spawn("waker", 0, 1, [&](SimThread& self) {
    self.spend(prices.vain_call.scaled(0.6), Category::software); // the sleeper is in the queue, and on its way
    CHECK(futex.sleepers() == 1);
    CHECK(futex.wake(self, 1, Category::completion) == 1);
    CHECK(test::clock(self) < prices.wait_call);
    CHECK(futex.sleepers() == 0);
  });
  engine.run();
}

TEST_CASE("no wake-up is lost between an announcement and the sleep", "[futex]") {
  // A waker that comes at any moment of the call either is seen by the comparison, or finds the sleeper.
  const Duration step = 7'001_ps;
  for (int delay = 0; delay < 300; ++delay) {
    Engine engine(1);
    const Host host = host_in_turns();
    Futex futex(engine, host, "f");
    bool set = false;
    bool done = false;
    engine.spawn("sleeper", 0, 0, [&](SimThread& self) {
      while (!set) {
        futex.wait(self, Category::blocked, [&] { return !set; });
      }
      done = true;
    });
    engine.spawn("waker", 0, 1, [&](SimThread& self) {
      self.spend(delay * step, Category::software);
      self.settle();
      set = true;
      futex.wake(self, 1, Category::completion);
    });
    engine.run(); // throws if somebody sleeps for ever
    REQUIRE(done);
  }
}

TEST_CASE("a mutex whose sleepers are queued in turns is handed to every thread", "[futex]") {
  constexpr int rounds = 60;
  const auto seed = GENERATE(range(1, 31));
  Engine engine(static_cast<std::uint64_t>(seed));
  const Host host = host_in_turns(40_ns);
  PthreadMutex mutex(engine, host, test::small_locks(), "mutex");
  RandomStream random = engine.stream("work");
  int inside = 0;
  int taken = 0;
  for (int i = 0; i < 12; ++i) {
    engine.spawn("t" + std::to_string(i), 0, i, [&](SimThread& self) {
      for (int round = 0; round < rounds; ++round) {
        mutex.lock(self);
        REQUIRE(++inside == 1);
        self.spend(random.exponential(seed % 3 * 150_ns), Category::compute);
        self.settle();
        --inside;
        ++taken;
        mutex.unlock(self);
        self.spend(random.exponential(100_ns), Category::compute);
      }
    });
  }
  engine.run();
  CHECK(taken == 12 * rounds);
}

TEST_CASE("who has the lock of a bucket keeps its core", "[futex][scheduler]") {
  // A thread that wakes up asks for the core just then. Another one, on another core, waits for the lock meanwhile.
  FutexParameters prices = prices_in_turns();
  prices.bucket_move = 20_us;
  SchedulerParameters parameters;
  parameters.policy = "cfs";
  parameters.latency = 20_ms;
  parameters.slice = 10_ms;
  parameters.wakeup_granularity = 1_us;
  parameters.balance_period = 1_ms;
  Engine engine(1);
  const Host host{TopologyParameters{1, 16, 1}, test::small_cache(), prices};
  Scheduler scheduler(engine, host, 0, parameters, 2);
  Futex futex(engine, host, "f");
  const auto pinned = [](int core) {
    Scheduler::Placement placement;
    placement.allowed.set(static_cast<std::size_t>(core));
    return placement;
  };
  Futex alarm(engine, host, "alarm");
  scheduler.spawn("sleeper", pinned(0), [&](SimThread& self) {
    alarm.wait(self, Category::blocked, [] { return true; });
    self.spend(5_ms, Category::compute);
  });
  TimePoint compared;
  scheduler.spawn("holder", pinned(0), [&](SimThread& self) {
    self.spend(1_ms, Category::software);
    futex.wait(self, Category::blocked, [] { return false; });
  });
  scheduler.spawn("other", pinned(1), [&](SimThread& self) {
    futex.wait(self, Category::blocked, [] { return false; }); // so that the holder has to fetch the bucket
    self.spend_time(TimePoint::at(1_ms + 2_us) - self.now(), Category::software);
    alarm.wake(self, 1, Category::software);
    futex.wait(self, Category::blocked, [&] {
      compared = self.now();
      return false;
    });
  });
  engine.run();
  CHECK(compared < TimePoint::at(1_ms + 100_us)); // two moves, not the 5 ms of the one that wakes up
  engine.abandon();
}
