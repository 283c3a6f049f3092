// What those do that sleep while they wait for a lock: when they give up looking, and who wakes whom.
#include "models/locks/lock.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace contend;
using test::cache;
using test::flat_host;

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

TEST_CASE("an adaptive mutex makes ten attempts and two more for each of the mean that it learns", "[locks][oracle]") {
  LockParameters parameters;
  parameters.pause = 1_us; // all else is free, but for the way out of the kernel
  FutexParameters futex;
  futex.wake_latency = 1_ms;
  Engine engine(1);
  const Host host({1, 2, 1}, CacheParameters{}, futex);
  const auto lock = lock_registry().at("adaptive")(engine, host, parameters, "lock");
  struct Round {
    Duration held;   ///< from when the waiter asks
    Duration waited; ///< an attempt after each pause, or until it is woken
  };
  // The mean moves by an eighth, rounded down, of what the attempts, one more where they were in vain, are above it.
  const std::vector<Round> rounds{
      {10'500_ns, 10'500_ns + 1_ms}, // 10 in vain: the mean is 11 / 8 = 1
      {11'500_ns, 12_us},            // of 12 the last: 1 + 11 / 8 = 2
      {14'500_ns, 14'500_ns + 1_ms}, // 14 in vain: 2 + 13 / 8 = 3
      {15'500_ns, 16_us},            // of 16 the last: 3 + 13 / 8 = 4
      {18'500_ns, 18'500_ns + 1_ms}, // 18 in vain
  };
  const auto start = [](std::size_t round) { return TimePoint::at(10_ms * static_cast<std::int64_t>(round + 1)); };
  engine.spawn("holder", 0, 0, [&](SimThread& self) {
    for (std::size_t round = 0; round < rounds.size(); ++round) {
      self.spend(start(round) - 1_us - self.now(), Category::software);
      lock->lock(self);
      self.spend(rounds[round].held + 1_us, Category::software);
      lock->unlock(self);
    }
  });
  engine.spawn("waiter", 0, 1, [&](SimThread& self) {
    for (std::size_t round = 0; round < rounds.size(); ++round) {
      CAPTURE(round);
      self.spend(start(round) - self.now(), Category::software);
      lock->lock(self);
      CHECK(self.now() - start(round) == rounds[round].waited);
      lock->unlock(self);
    }
  });
  engine.run();
}

TEST_CASE("a mutex of three states that somebody sleeps for is given back by two writes and a call",
          "[locks][oracle]") {
  Engine engine(1);
  const Host host = flat_host();
  const auto lock = lock_registry().at("mutex3")(engine, host, test::small_locks(), "lock");
  Duration price;
  engine.spawn("holder", 0, 0, [&](SimThread& self) {
    lock->lock(self);
    self.spend(20_us, Category::software);
    const TimePoint start = self.now();
    lock->unlock(self);
    price = self.now() - start;
  });
  engine.spawn("sleeper", 0, 1, [&](SimThread& self) {
    self.spend(1_us, Category::software);
    lock->lock(self);
    lock->unlock(self);
  });
  engine.run();
  // The sleeper has written the word last. fetch_sub finds two, so that the word is set free by a store.
  CHECK(price == cache.transfer_socket + cache.atomic_hit + cache.hit + test::small_futex().wake_call);
}

TEST_CASE("who alone slept for a shared mutex finds nobody to wake when it gives it back", "[locks][oracle]") {
  Engine engine(1);
  const Host host = flat_host();
  const auto lock = lock_registry().at("shared-mutex")(engine, host, test::small_locks(), "lock");
  Duration price;
  engine.spawn("holder", 0, 0, [&](SimThread& self) {
    lock->lock(self);
    self.spend(10_ms, Category::software); // longer than anybody spins
    lock->unlock(self);
  });
  engine.spawn("sleeper", 0, 1, [&](SimThread& self) {
    self.spend(1_us, Category::software);
    lock->lock(self);
    self.spend(20_us, Category::software);
    const TimePoint start = self.now();
    lock->unlock(self);
    price = self.now() - start;
  });
  engine.run();
  CHECK(price == cache.hit + cache.atomic_hit);
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

TEST_CASE("a parking-lot mutex looks after 2, 4 and 8 pauses, then after each of seven turns", "[locks][oracle]") {
  LockParameters parameters;
  parameters.pause = 1_us; // and no price of sched_yield: a turn takes as long
  FutexParameters futex;
  futex.wake_latency = 1_ms;
  const auto taken_by = [&](Duration held) {
    Engine engine(3);
    const Host host({1, 2, 1}, CacheParameters{}, futex);
    const auto lock = lock_registry().at("parking-lot")(engine, host, parameters, "lock");
    Duration taken;
    engine.spawn("holder", 0, 0, [&](SimThread& self) {
      lock->lock(self);
      self.spend(10_us + held, Category::software);
      lock->unlock(self);
    });
    engine.spawn("waiter", 0, 1, [&](SimThread& self) {
      self.spend(10_us, Category::software);
      lock->lock(self);
      taken = test::clock(self) - 10_us;
      lock->unlock(self);
    });
    engine.run();
    return taken;
  };
  CHECK(taken_by(1_us) == 2_us);
  CHECK(taken_by(3_us) == 6_us);
  CHECK(taken_by(7_us) == 14_us);
  for (const Duration turn : {15_us, 18_us, 21_us}) {
    CHECK(taken_by(turn - 500_ns) == turn);
  }
  CHECK(taken_by(22_us) == 22_us + futex.wake_latency);
}

TEST_CASE("who is woken in step with a thread that is back at once has the lock in the end", "[locks]") {
  // Futexes without jitter: with some sections the sleeper would always come when the lock has just been taken again.
  const bool home_order = GENERATE(false, true);
  const Duration away = GENERATE(0_ns, 20_ns, 1_us);
  const Host host({1, 4, 1}, home_order ? test::home_ordered() : test::small_cache(), test::small_futex());
  for (const std::string& kind : lock_registry().names()) {
    for (Duration section{}; section <= 2_us; section += 100_ns) {
      CAPTURE(kind, home_order, away.count(), section.count());
      Engine engine(1);
      const auto lock = lock_registry().at(kind)(engine, host, test::small_locks(), "lock");
      int waiting = 2;
      engine.spawn("holder", 0, 0, [&](SimThread& self) {
        while (waiting > 0 && test::clock(self) < 20_ms) {
          lock->lock(self);
          self.spend(section, Category::software);
          lock->unlock(self);
          self.spend(away, Category::software);
        }
      });
      for (int core = 1; core <= 2; ++core) {
        engine.spawn("waiter", 0, core, [&](SimThread& self) {
          self.spend(1_us, Category::software);
          lock->lock(self);
          CHECK(test::clock(self) < 10_ms);
          --waiting;
          lock->unlock(self);
        });
      }
      engine.run();
    }
  }
}
