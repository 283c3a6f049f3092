// Sleeping and waking: nobody who sleeps is forgotten, sleepers go in order of arrival, and the kernel reads their word.
#include "core/futex.hpp"
#include "models/locks/pthread_mutex.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace contend;

namespace {

const FutexParameters futex_prices = test::small_futex();
const TopologyParameters one_socket{1, 16, 1};

/// A counting semaphore by the book: test, sleep, test again.
class Semaphore {
public:
  Semaphore(Engine& engine, const Host& host) : line_(engine, host, "value"), futex_(engine, host, "semaphore") {}

  void post(SimThread& self) {
    line_.atomic(self, Category::software);
    ++value_;
    futex_.wake(self, 1, Category::software);
  }
  void wait(SimThread& self) {
    while (value_ == 0) {
      futex_.wait(self, Category::blocked, line_, [this] { return value_ == 0; });
    }
    --value_;
  }
  [[nodiscard]] int value() const { return value_; }
  [[nodiscard]] std::size_t sleepers() const { return futex_.sleepers(); }

private:
  int value_ = 0;
  CacheLine line_;
  Futex futex_;
};

} // namespace

TEST_CASE("a wait that is no longer wanted returns after the call", "[futex]") {
  Engine engine(1);
  const Host host = test::small_host();
  Futex futex(engine, host, "f");
  engine.spawn("t", 0, 0, [&](SimThread& self) {
    CHECK_FALSE(futex.wait(self, Category::blocked, [] { return false; }));
    CHECK(test::clock(self) == futex_prices.wait_call);
    CHECK(test::spent(self, Category::blocked) == futex_prices.wait_call);
  });
  engine.run();
  CHECK(futex.sleepers() == 0);
}

TEST_CASE("the word is compared at the end of the call", "[futex]") {
  Engine engine(1);
  const Host host = test::small_host();
  Futex futex(engine, host, "f");
  bool wanted = true;
  engine.spawn("sleeper", 0, 0,
               [&](SimThread& self) { CHECK_FALSE(futex.wait(self, Category::blocked, [&] { return wanted; })); });
  engine.spawn("changer", 0, 1, [&](SimThread& self) {
    self.spend(futex_prices.wait_call - 1_ps, Category::software);
    wanted = false;
  });
  engine.run();
}

TEST_CASE("a sleeper runs again one latency after the wake call", "[futex]") {
  Engine engine(1);
  const Host host = test::small_host();
  Futex futex(engine, host, "f");
  engine.spawn("sleeper", 0, 0, [&](SimThread& self) {
    CHECK(futex.wait(self, Category::blocked, [] { return true; }));
    CHECK(test::clock(self) == 5_us + futex_prices.wake_call + futex_prices.wake_latency);
  });
  engine.spawn("waker", 0, 1, [&](SimThread& self) {
    self.spend(5_us, Category::software);
    CHECK(futex.wake(self, 1, Category::lock_wait) == 1);
    CHECK(test::spent(self, Category::lock_wait) == futex_prices.wake_call);
    CHECK(futex.wake(self, 1, Category::completion) == 0);
    CHECK(test::spent(self, Category::completion) == futex_prices.empty_wake_call);
  });
  engine.run();
}

TEST_CASE("sleepers are woken in order of arrival, as many as asked for", "[futex]") {
  Engine engine(1);
  const Host host = test::small_host();
  Futex futex(engine, host, "f");
  std::vector<int> woken;
  for (int i = 0; i < 6; ++i) {
    engine.spawn("sleeper " + std::to_string(i), 0, i, [&, i](SimThread& self) {
      self.spend(1_us * ((i * 5) % 6), Category::software); // arrivals 0 5 4 3 2 1
      futex.wait(self, Category::blocked, [] { return true; });
      woken.push_back(i);
    });
  }
  engine.spawn("waker", 0, 8, [&](SimThread& self) {
    self.spend(20_us, Category::software);
    CHECK(futex.sleepers() == 6);
    CHECK(futex.wake(self, 1, Category::software) == 1);
    CHECK(futex.wake(self, 3, Category::software) == 3);
    CHECK(futex.wake(self, 100, Category::software) == 2);
    CHECK(futex.sleepers() == 0);
  });
  engine.run();
  CHECK(woken == std::vector<int>{0, 5, 4, 3, 2, 1});
}

TEST_CASE("no wake-up is lost in random interleavings", "[futex][property]") {
  const int seeds = 3'000;
  for (int seed = 1; seed <= seeds; ++seed) {
    Engine engine(static_cast<std::uint64_t>(seed));
    RandomStream shape = engine.stream("shape");
    FutexParameters prices;
    // Small numbers make most dates collide.
    const auto some = [&shape] { return Duration::picoseconds(static_cast<std::int64_t>(shape.below(12))); };
    prices.wait_call = some();
    prices.wake_call = some();
    prices.empty_wake_call = some();
    prices.wake_latency = some();
    prices.call_jitter = seed % 3 == 0 ? some() : 0_ps;
    prices.wake_jitter = seed % 3 == 1 ? some() : 0_ps;
    CacheParameters lines;
    lines.hit = lines.atomic_hit = seed % 2 == 0 ? some() : 0_ps;
    lines.transfer_smt = lines.transfer_socket = seed % 2 == 0 ? some() : 0_ps;
    lines.home_order = seed % 4 == 0;
    const Host host(test::small_topology, lines, prices);
    Semaphore semaphore(engine, host);
    const auto threads = 1 + shape.below(6);
    constexpr int rounds = 10;
    for (std::uint64_t i = 0; i < threads; ++i) {
      engine.spawn("producer " + std::to_string(i), 0, 0, [&](SimThread& self) {
        RandomStream random = engine.stream(self.name());
        for (int round = 0; round < rounds; ++round) {
          self.spend(Duration::picoseconds(static_cast<std::int64_t>(random.below(40))), Category::software);
          semaphore.post(self);
        }
      });
      engine.spawn("consumer " + std::to_string(i), 0, 1, [&](SimThread& self) {
        RandomStream random = engine.stream(self.name());
        for (int round = 0; round < rounds; ++round) {
          self.spend(Duration::picoseconds(static_cast<std::int64_t>(random.below(40))), Category::software);
          semaphore.wait(self);
        }
      });
    }
    CAPTURE(seed, threads);
    REQUIRE_NOTHROW(engine.run()); // a lost wake-up is a deadlock
    REQUIRE(semaphore.value() == 0);
    REQUIRE(semaphore.sleepers() == 0);
  }
}

TEST_CASE("who has slept long wakes up from a deeper idle state", "[futex][oracle]") {
  FutexParameters prices = futex_prices;
  prices.shallow_latency = 500_ns;
  prices.deep_after = 10_us;
  for (const Duration slept : {1_us, 9'999'999_ps, 10_us, 80_us}) {
    CAPTURE(slept);
    Engine engine(1);
    const Host host(test::small_topology, test::small_cache(), prices);
    Futex futex(engine, host, "f");
    const Duration called = prices.wait_call + slept;
    engine.spawn("sleeper", 0, 0, [&](SimThread& self) {
      CHECK(futex.wait(self, Category::blocked, [] { return true; }));
      const Duration latency = slept < prices.deep_after ? prices.shallow_latency : prices.wake_latency;
      CHECK(test::clock(self) == called + prices.wake_call + latency);
    });
    engine.spawn("waker", 0, 2, [&](SimThread& self) {
      self.spend(called, Category::software);
      CHECK(futex.wake(self, 1, Category::software) == 1);
    });
    engine.run();
  }
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

TEST_CASE("before a thread sleeps the kernel reads its word, which whoever wrote it has to fetch again", "[futex]") {
  Engine engine(1);
  const Host host{one_socket, test::small_cache(), futex_prices};
  CacheLine word(engine, host, "word");
  Futex futex(engine, host, "word");
  bool awaited = true;
  engine.spawn("owner", 0, 0, [&](SimThread& self) {
    word.store(self, Category::software);
    self.spend(20_us, Category::software);
    REQUIRE(futex.sleepers() == 1);
    const TimePoint start = self.now();
    word.store(self, Category::software);
    CHECK(self.now() - start == test::cache.transfer_socket + test::cache.hit);
    awaited = false;
    CHECK(futex.wake(self, 1, Category::software) == 1);
  });
  engine.spawn("sleeper", 0, 1, [&](SimThread& self) {
    self.spend(10_us, Category::software);
    CHECK(futex.wait(self, Category::blocked, word, [&] { return awaited; }));
    const Duration reading = test::cache.transfer_socket + test::cache.hit;
    CHECK(self.times()[static_cast<std::size_t>(Category::blocked)] > host.futex().wait_call + reading);
    CHECK_FALSE(awaited);
  });
  engine.run();
}

TEST_CASE("what changes while the kernel fetches the word keeps a thread awake", "[futex]") {
  Engine engine(1);
  const Host host{one_socket, test::small_cache(), futex_prices};
  CacheLine word(engine, host, "word");
  Futex futex(engine, host, "word");
  bool awaited = true;
  engine.spawn("owner", 0, 0, [&](SimThread& self) {
    word.store(self, Category::software);
    // The call is over by then, the line still on its way to the caller.
    self.spend(TimePoint::at(10_us + host.futex().wait_call + test::cache.transfer_socket.scaled(0.5)) - self.now(),
               Category::software);
    awaited = false;
    CHECK(futex.wake(self, 1, Category::software) == 0);
  });
  engine.spawn("caller", 0, 1, [&](SimThread& self) {
    self.spend(10_us, Category::software);
    CHECK_FALSE(futex.wait(self, Category::blocked, word, [&] { return awaited; }));
    CHECK(test::clock(self) == 10_us + host.futex().wait_call + test::cache.transfer_socket + test::cache.hit);
  });
  engine.run();
  CHECK(futex.sleepers() == 0);
}

TEST_CASE("who compares in vain does not come in step with the owner for ever", "[futex]") {
  // The mutex is taken again at once, and for some of these lengths the thread that waits never sees it free, nor sleeps.
  for (Duration held = 50_ns; held < 800_ns; held += 10_ns) {
    CAPTURE(held);
    Engine engine(1);
    engine.set_step_limit(200'000);
    const Host host{one_socket, test::small_cache(), futex_prices};
    PthreadMutex mutex(engine, host, {}, "mutex");
    bool done = false;
    engine.spawn("holder", 0, 0, [&](SimThread& self) {
      while (!done) {
        mutex.lock(self);
        self.spend(held, Category::software);
        mutex.unlock(self);
      }
    });
    engine.spawn("waits", 0, 1, [&](SimThread& self) {
      self.spend(10_us, Category::software);
      mutex.lock(self);
      done = true;
      mutex.unlock(self);
    });
    CHECK_NOTHROW(engine.run());
  }
}
