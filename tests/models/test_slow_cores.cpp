// Calls of the kernel and loops that wait, on cores that differ in pace: PAUSE takes the same everywhere, the rest does not.
#include "../core/support/paces.hpp"
#include "../core/support/waiting.hpp"
#include "core/futex.hpp"
#include "models/locks/lock.hpp"
#include "models/locks/spinners.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace contend;
using test::cache;
using test::flat_host;
using test::free_host;
using test::mix_cores;
using test::MixedCores;
using test::Reason;

namespace {

constexpr double pace(bool slow) { return slow ? 1.5 : 0.5; }

FutexParameters kernel(bool takes_turns) {
  FutexParameters futex = test::small_futex();
  futex.wake_further = 333'010_ps;
  if (takes_turns) {
    futex.vain_call = 401'002_ps;
    futex.bucket_move = 53'000_ps;
  }
  return futex;
}

} // namespace

TEST_CASE("sleepers wake when the call of their waker is over, on whatever core", "[futex][slow cores]") {
  const bool slow = GENERATE(false, true);
  const bool takes_turns = GENERATE(false, true);
  const int sleepers = GENERATE(1, 3);
  CAPTURE(slow, takes_turns, sleepers);
  const FutexParameters prices = kernel(takes_turns);
  Engine engine(1);
  const MixedCores cores = mix_cores(engine);
  const Host host({1, 8, 1}, test::small_cache(), prices);
  Futex futex(engine, host, "word");
  std::vector<TimePoint> woken;
  for (int i = 0; i < sleepers; ++i) {
    engine.spawn("sleeper " + std::to_string(i), 0, slow ? cores.quick : cores.slow, [&](SimThread& self) {
      futex.wait(self, Category::blocked, [] { return true; });
      woken.push_back(self.now());
    });
  }
  TimePoint called;
  TimePoint over;
  const SimThread& waker = engine.spawn("waker", 0, slow ? cores.slow : cores.quick, [&](SimThread& self) {
    self.spend_time(100_us, Category::software);
    called = self.now();
    CHECK(futex.wake(self, sleepers, Category::nic_post) == sleepers);
    over = self.now();
    self.settle();
  });
  engine.run();
  CHECK(test::spent(waker, Category::nic_post) == over - called);
  if (!takes_turns) {
    // Each price by itself: they are rounded one by one.
    Duration call =
        prices.empty_wake_call.scaled(pace(slow)) + (prices.wake_call - prices.empty_wake_call).scaled(pace(slow));
    call += (sleepers - 1) * prices.wake_further.scaled(pace(slow));
    CHECK(over - called == call);
  }
  REQUIRE(woken.size() == static_cast<std::size_t>(sleepers));
  CHECK(woken.back() == over + prices.wake_latency);
  for (std::size_t i = 0; i + 1 < woken.size(); ++i) {
    CHECK(woken[i + 1] - woken[i] == prices.wake_further.scaled(pace(slow)));
  }
}

TEST_CASE("a call that finds nobody is at the pace of its core", "[futex][slow cores]") {
  const bool slow = GENERATE(false, true);
  Engine engine(1);
  const MixedCores cores = mix_cores(engine);
  const Host host({1, 8, 1}, test::small_cache(), kernel(false));
  Futex futex(engine, host, "word");
  engine.spawn("waker", 0, slow ? cores.slow : cores.quick, [&](SimThread& self) {
    CHECK(futex.wake(self, 1, Category::software) == 0);
    CHECK(test::clock(self) == kernel(false).empty_wake_call.scaled(pace(slow)));
    CHECK_FALSE(futex.wait(self, Category::blocked, [] { return false; }));
    CHECK(test::spent(self, Category::blocked) >= kernel(false).wait_call.scaled(pace(slow)));
    CHECK(test::spent(self, Category::blocked) < kernel(false).wait_call.scaled(pace(slow)) + 1_ns);
  });
  engine.run();
}

TEST_CASE("a loop that waits comes back at the end of a turn of its own core", "[locks][slow cores]") {
  const bool slow = GENERATE(false, true);
  const bool yields = GENERATE(false, true);
  CAPTURE(slow, yields);
  Engine engine(1);
  const MixedCores cores = mix_cores(engine);
  const Host host = flat_host();
  CacheLine line(engine, host, "line");
  const Duration pause = 40'010_ps;
  const Duration look = 6'020_ps;
  Spinners spinners(line, pause, yields ? Spinners::Loop::yields : Spinners::Loop::in_step, look);
  const Reason reason("a change");
  // PAUSE takes the same on every core; a call of the kernel and the look are work.
  const Duration turn = (yields ? pause.scaled(pace(slow)) : pause) + look.scaled(pace(slow));
  constexpr Duration changed = 3'000'017_ps;
  engine.spawn("spinner", 0, slow ? cores.slow : cores.quick, [&](SimThread& self) {
    line.load(self, Category::poll_idle);
    const TimePoint looked = self.now();
    spinners.rest(self, Category::poll_idle, reason);
    CHECK(self.now() > TimePoint::at(changed));
    CHECK(self.now() <= TimePoint::at(changed + turn));
    CHECK((self.now() - looked) % turn == 0_ps);
  });
  engine.spawn("writer", 0, slow ? cores.quick : cores.slow, [&](SimThread& self) {
    self.spend_time(changed, Category::software);
    line.store(self, Category::software);
  });
  engine.run();
}

TEST_CASE("pauses in the loop of a lock are as long on slow cores", "[locks][slow cores]") {
  // Nothing else has a price: who waits looks at times that are told by pauses alone.
  LockParameters parameters = test::small_locks();
  parameters.adaptive_spins = 100;
  const Duration pause = parameters.pause;
  struct Looks {
    const char* kind;
    Duration held;
    Duration taken;
  };
  for (const Looks& looks : {Looks{"adaptive", 22'000_ps, 5 * pause}, Looks{"ttas-futex", 22'000_ps, 5 * pause},
                             Looks{"parking-lot", 7 * pause - 1'000_ps, 14 * pause}, // 2, 4 and 8 pauses
                             Looks{"ttas", 22'000_ps, 22'000_ps + pause} /* a pause after the release */,
                             Looks{"tas", 22'000_ps, 5 * pause}}) {
    for (const bool slow : {false, true}) {
      CAPTURE(looks.kind, slow);
      Engine engine(1);
      const MixedCores cores = mix_cores(engine);
      const Host host = free_host();
      const auto lock = lock_registry().at(looks.kind)(engine, host, parameters, "lock");
      Duration taken;
      engine.spawn("holder", 0, slow ? cores.quick : cores.slow, [&](SimThread& self) {
        lock->lock(self);
        self.spend_time(looks.held, Category::software);
        lock->unlock(self);
      });
      engine.spawn("waiter", 0, slow ? cores.slow : cores.quick, [&](SimThread& self) {
        lock->lock(self);
        taken = test::clock(self);
        lock->unlock(self);
      });
      engine.run();
      CHECK(taken == looks.taken);
    }
  }
}

TEST_CASE("a line travels as fast to a slow core, and is used there at its pace", "[cache line][slow cores]") {
  const bool slow = GENERATE(false, true);
  Engine engine(1);
  const MixedCores cores = mix_cores(engine);
  const Host host = flat_host();
  CacheLine line(engine, host, "line");
  engine.spawn("first", 0, slow ? cores.quick : cores.slow,
               [&](SimThread& self) { line.store(self, Category::software); });
  engine.spawn("second", 0, slow ? cores.slow : cores.quick, [&](SimThread& self) {
    self.spend_time(1_us, Category::software);
    line.atomic(self, Category::line_transfer);
    CHECK(test::spent(self, Category::line_transfer) >= cache.transfer_socket);
    CHECK(test::spent(self, Category::line_transfer) <= cache.transfer_socket + cache.atomic_hit);
    const Duration fetched = test::spent(self, Category::line_transfer);
    for (int i = 0; i < 10; ++i) {
      line.atomic(self, Category::line_transfer);
    }
    CHECK(test::spent(self, Category::line_transfer) - fetched == 10 * cache.atomic_hit.scaled(pace(slow)));
  });
  engine.run();
}

TEST_CASE("lines that move together travel as fast to a slow core", "[cache line][slow cores]") {
  const bool slow = GENERATE(false, true);
  Engine engine(1);
  const MixedCores cores = mix_cores(engine);
  const Host host = flat_host();
  CacheLine line(engine, host, "line");
  engine.spawn("first", 0, slow ? cores.quick : cores.slow,
               [&](SimThread& self) { line.store(self, Category::software); });
  engine.spawn("second", 0, slow ? cores.slow : cores.quick, [&](SimThread& self) {
    self.spend_time(1_us, Category::software);
    line.store_protected(self, 3, Category::line_transfer);
    const Duration fetched = test::spent(self, Category::line_transfer);
    CHECK(fetched == 3 * (cache.transfer_socket + cache.hit));
    line.store_protected(self, 3, Category::line_transfer); // they are here
    CHECK(test::spent(self, Category::line_transfer) - fetched == (3 * cache.hit).scaled(pace(slow)));
  });
  engine.run();
}

TEST_CASE("who sleeps for a while sleeps as long on a slow core", "[futex][slow cores]") {
  const bool slow = GENERATE(false, true);
  Engine engine(1);
  const MixedCores cores = mix_cores(engine);
  const Reason reason("the end of a nap");
  engine.spawn("sleeper", 0, slow ? cores.slow : cores.quick, [&](SimThread& self) {
    sleep(self, 7_us, Category::blocked, reason);
    CHECK(test::clock(self) == 7_us);
    CHECK(test::spent(self, Category::blocked) == 7_us);
  });
  engine.run();
}
