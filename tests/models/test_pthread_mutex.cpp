// The futex mutex: who releases may come back before the sleeper is awake, and the kernel is called no more often than
// the three-state word demands.
#include "models/locks/lock.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace contend;

namespace {

/// Only system calls cost time, each its own amount, so that times count calls.
constexpr Duration one_wake = 1_us;
constexpr Duration one_empty_wake = 1_ps;

Host counting_host() {
  FutexParameters futex;
  futex.wake_call = one_wake;
  futex.empty_wake_call = one_empty_wake;
  return {test::small_topology, CacheParameters{}, futex};
}

struct Calls {
  std::int64_t wakes;
  std::int64_t empty_wakes;
  bool operator==(const Calls&) const = default;
};

/// From the time that unlocking took, charged to Category::completion.
Calls calls_of(const Engine& engine) {
  Duration total;
  for (const auto& thread : engine.threads()) {
    total += test::spent(*thread, Category::completion);
  }
  return {total / one_wake, (total % one_wake) / one_empty_wake};
}

} // namespace

TEST_CASE("a mutex nobody else wants makes no system call", "[pthread mutex]") {
  Engine engine(1);
  const Host host = counting_host();
  const auto lock = lock_registry().at("pthread-mutex")(engine, host, LockParameters{}, "mutex");
  engine.spawn("t", 0, 0, [&](SimThread& self) {
    for (int round = 0; round < 100; ++round) {
      lock->lock(self);
      lock->unlock(self, Category::completion);
    }
  });
  engine.run();
  CHECK(calls_of(engine) == Calls{0, 0});
}

TEST_CASE("a chain of sleepers needs a wake each, and one in vain at the end", "[pthread mutex]") {
  for (int sleepers = 1; sleepers <= 6; ++sleepers) {
    Engine engine(1);
    const Host host = counting_host();
    const auto lock = lock_registry().at("pthread-mutex")(engine, host, LockParameters{}, "mutex");
    for (int i = 0; i <= sleepers; ++i) {
      engine.spawn("t" + std::to_string(i), 0, i, [&, i](SimThread& self) {
        self.spend(i * 1_ns, Category::software);
        lock->lock(self);
        self.spend(20_us, Category::software);
        lock->unlock(self, Category::completion);
      });
    }
    engine.run();
    CAPTURE(sleepers);
    // The last sleeper cannot know that it is the last.
    CHECK(calls_of(engine) == Calls{sleepers, 1});
  }
}

TEST_CASE("the releasing thread takes the mutex again before the sleeper is awake", "[pthread mutex]") {
  Engine engine(1);
  const Host host = test::small_host();
  const auto lock = lock_registry().at("pthread-mutex")(engine, host, test::small_locks(), "mutex");
  std::vector<std::string> holders;
  engine.spawn("greedy", 0, 0, [&](SimThread& self) {
    for (int round = 0; round < 3; ++round) {
      lock->lock(self);
      holders.push_back(self.name());
      self.spend(10_us, Category::software);
      lock->unlock(self);
    }
  });
  engine.spawn("sleeper", 0, 2, [&](SimThread& self) {
    self.spend(1_us, Category::software);
    lock->lock(self);
    holders.push_back(self.name());
    lock->unlock(self);
  });
  engine.run();
  CHECK(holders == std::vector<std::string>{"greedy", "greedy", "greedy", "sleeper"});
}

TEST_CASE("a releasing thread that stays away lets the sleeper in", "[pthread mutex]") {
  Engine engine(1);
  const Host host = test::small_host();
  const auto lock = lock_registry().at("pthread-mutex")(engine, host, test::small_locks(), "mutex");
  TimePoint released;
  engine.spawn("holder", 0, 0, [&](SimThread& self) {
    lock->lock(self);
    self.spend(10_us, Category::software);
    lock->unlock(self);
    released = self.now();
  });
  engine.spawn("sleeper", 0, 2, [&](SimThread& self) {
    self.spend(1_us, Category::software);
    lock->lock(self);
    const CacheParameters cache = test::small_cache();
    CHECK(self.now() == released + test::small_futex().wake_latency + cache.transfer_socket + cache.atomic_hit);
    lock->unlock(self);
  });
  engine.run();
}

TEST_CASE("wakes never outnumber contended releases", "[pthread mutex][property]") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Engine engine(seed);
    const Host host = counting_host();
    const auto lock = lock_registry().at("pthread-mutex")(engine, host, LockParameters{}, "mutex");
    RandomStream shape = engine.stream("shape");
    const auto threads = static_cast<int>(2 + shape.below(6));
    for (int i = 0; i < threads; ++i) {
      engine.spawn("t" + std::to_string(i), 0, i, [&](SimThread& self) {
        RandomStream random = engine.stream(self.name());
        for (int round = 0; round < 20; ++round) {
          self.spend(random.exponential(3_us), Category::software);
          lock->lock(self);
          self.spend(random.exponential(1_us), Category::software);
          lock->unlock(self, Category::completion);
        }
      });
    }
    engine.run();
    const Calls calls = calls_of(engine);
    CAPTURE(seed, threads);
    // Who finds the mutex taken marks it once more after every sleep: a release calls the kernel at most once for a mark,
    // and a mark is made once per contended acquisition and once per wake.
    REQUIRE(calls.wakes <= static_cast<std::int64_t>(lock->acquisitions()));
    REQUIRE(calls.wakes + calls.empty_wakes <= static_cast<std::int64_t>(lock->contended()) + calls.wakes);
    REQUIRE((lock->contended() > 0 || calls == Calls{0, 0}));
  }
}

namespace {

LockParameters glibc(bool reads_kind, bool tests_first) {
  LockParameters parameters = test::small_locks();
  parameters.mutex_reads_kind = reads_kind;
  parameters.mutex_tests_first = tests_first;
  return parameters;
}

/// What a call takes of a thread whose mutex another core has, alone on the machine.
template <typename Call>
Duration spent_in(const LockParameters& parameters, bool held, Call call, const char* kind = "pthread-mutex") {
  Engine engine(1);
  const Host host = test::small_host();
  const auto lock = lock_registry().at(kind)(engine, host, parameters, "mutex");
  Duration spent;
  engine.spawn("first", 0, 0, [&](SimThread& self) {
    lock->lock(self);
    if (!held) {
      lock->unlock(self);
    }
  });
  engine.spawn("second", 0, 2, [&](SimThread& self) {
    self.spend(10_us, Category::software);
    const Duration called = test::clock(self);
    call(*lock, self);
    spent = test::clock(self) - called;
  });
  engine.run();
  return spent;
}

} // namespace

TEST_CASE("a mutex's kind is fetched for reading before its word is fetched for writing", "[pthread mutex][oracle]") {
  const CacheParameters cache = test::small_cache();
  const auto lock = [](Lock& mutex, SimThread& self) { mutex.lock(self); };
  const Duration bare = spent_in(glibc(false, false), false, lock);
  CHECK(bare == cache.transfer_socket + cache.atomic_hit);
  CHECK(spent_in(glibc(true, false), false, lock) == bare + cache.transfer_socket + cache.hit);
  // Whoever has the line already pays hits.
  const auto again = [](Lock& mutex, SimThread& self) {
    mutex.lock(self);
    const Duration locked = test::clock(self);
    mutex.unlock(self);
    CHECK(test::clock(self) - locked == test::small_cache().hit + test::small_cache().atomic_hit);
  };
  static_cast<void>(spent_in(glibc(true, false), false, again));
}

TEST_CASE("an attempt that looks first leaves a taken mutex's line where it is", "[pthread mutex][oracle]") {
  const CacheParameters cache = test::small_cache();
  const auto twice = [](Lock& mutex, SimThread& self) {
    CHECK_FALSE(mutex.try_lock(self));
    CHECK_FALSE(mutex.try_lock(self));
  };
  CHECK(spent_in(glibc(false, false), true, twice) == cache.transfer_socket + 2 * cache.atomic_hit);
  CHECK(spent_in(glibc(false, true), true, twice) == cache.transfer_socket + 2 * cache.hit);
  const auto taken = [](Lock& mutex, SimThread& self) { CHECK(mutex.try_lock(self)); };
  CHECK(spent_in(glibc(false, true), false, taken) == 2 * cache.transfer_socket + cache.hit + cache.atomic_hit);
}

TEST_CASE("locks that have a pthread mutex inside pay what its calls begin with", "[pthread mutex][oracle]") {
  const auto lock = [](Lock& mutex, SimThread& self) { mutex.lock(self); };
  const auto attempt = [](Lock& mutex, SimThread& self) { static_cast<void>(mutex.try_lock(self)); };
  const bool reads_kind = GENERATE(false, true);
  const bool tests_first = GENERATE(false, true);
  const LockParameters parameters = glibc(reads_kind, tests_first);
  CAPTURE(reads_kind, tests_first);
  for (const char* kind : {"flat-combining", "flat-combining-pooled"}) { // which nobody combines here
    for (const bool held : {false, true}) {
      CHECK(spent_in(parameters, held, attempt, kind) == spent_in(parameters, held, attempt));
    }
    CHECK(spent_in(parameters, false, lock, kind) == spent_in(parameters, false, lock));
  }
  // Its mutex is taken and given back by every call.
  const CacheParameters cache = test::small_cache();
  const Duration bare = spent_in(glibc(false, false), false, lock, "queued-mutex");
  CHECK(spent_in(parameters, false, lock, "queued-mutex") ==
        (reads_kind ? bare + cache.transfer_socket + 2 * cache.hit : bare));
}
