// A waiter that does not leave before its signaller has let go: free on cores of their own, a time slice on a shared one.
#include "../core/support/scheduling.hpp"
#include "models/waiting/guarded_sleep_idling.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace contend;

namespace {

/// One thread signals each of its waiters in turn, again and again. Returns in how many of the signals it lost its core
/// before the last line for at least half a millisecond.
double share_of_lost_slices(int cores, int waiters, Duration polls) {
  SchedulerParameters parameters = test::free_scheduler("eevdf");
  parameters.slice = 1'400_us;
  parameters.short_sleep = 1'040_us;
  parameters.preemption = "lazy";
  parameters.tick = 4_ms;
  parameters.waker_affinity = 0.0;
  FutexParameters prices;
  prices.wait_call = 900_ns;
  prices.wake_call = 700_ns;
  prices.empty_wake_call = 150_ns;
  constexpr int rounds = 60;
  test::SharedHost shared(cores, parameters, 1, prices);
  shared.engine.set_step_limit(50'000'000);
  GuardedSleepIdling idling;
  std::vector<std::unique_ptr<SyncObject>> syncs;
  int done = 0;
  for (int i = 0; i < waiters; ++i) {
    syncs.push_back(std::make_unique<SyncObject>(shared.engine, shared.host, "sync " + std::to_string(i)));
    SyncObject& sync = *syncs.back();
    sync.pending = 1;
    shared.spawn("waiter " + std::to_string(i), [&](SimThread& self) {
      for (int round = 0; round < rounds; ++round) {
        while (sync.idles()) {
          idling.idle(self, sync);
        }
        idling.leave(self, sync);
        self.spend(10_us, Category::software);
        sync.pending = 1;
        ++done;
      }
    });
  }
  int lost = 0;
  shared.spawn("signaller", [&](SimThread& self) {
    for (int round = 0; round < rounds; ++round) {
      while (done < waiters * round) {
        self.spend(1_us, Category::poll_idle);
      }
      for (Duration polled; polled < polls; polled += 10_us) {
        self.spend(10_us, Category::poll_idle);
      }
      for (const auto& sync : syncs) {
        const TimePoint begin = self.now();
        sync->pending = 0;
        idling.wake(self, *sync, Category::completion, false);
        self.settle();
        lost += self.now() - begin > 500_us ? 1 : 0;
      }
    }
  });
  shared.engine.run();
  CHECK(done == waiters * rounds);
  return static_cast<double>(lost) / (waiters * rounds);
}

} // namespace

TEST_CASE("on a core of its own a waiter leaves at once", "[mpi][waiting][scheduler]") {
  CHECK(share_of_lost_slices(2, 1, 200_us) < 0.1);
}

// Measured with pthreads on Linux 6.18, one core, signals 0.2 ms apart: 0.99 with one waiter, 0.72, 0.44 and 0.22 with 2, 4
// and 8. Who has lost a slice has had less than its share, and is left alone for the next ones.
TEST_CASE("on its signaller's core a waiter takes the rest of a slice, once in a while", "[mpi][waiting][scheduler]") {
  const double one = share_of_lost_slices(1, 1, 200_us);
  const double two = share_of_lost_slices(1, 2, 200_us);
  const double four = share_of_lost_slices(1, 4, 200_us);
  const double eight = share_of_lost_slices(1, 8, 200_us);
  CAPTURE(one, two, four, eight);
  CHECK(one == Approx(0.99).margin(0.1));
  CHECK(two == Approx(0.72).margin(0.2));
  CHECK(four == Approx(0.44).margin(0.2));
  CHECK(eight == Approx(0.22).margin(0.2));
  CHECK(one > four);
  CHECK(two > eight);
}

TEST_CASE("a waiter that polls is signalled like one that sleeps", "[mpi][waiting]") {
  Engine engine(1);
  CacheParameters cache;
  cache.hit = 1_ns;
  cache.atomic_hit = 6_ns;
  cache.l3_hit = 20_ns;
  cache.transfer_socket = 60_ns;
  const Host host({1, 2, 1}, cache, FutexParameters{});
  SyncObject sync(engine, host, "sync");
  GuardedSleepIdling idling;
  engine.spawn("signaller", 0, 0, [&](SimThread& self) {
    idling.signal_poller(self, sync, Category::completion);
    self.settle();
    const Duration first = self.charged(Category::completion);
    CHECK(first > Duration{}); // the mutex, and the line of the flag
    CHECK_FALSE(sync.guard.signalling);
    self.spend(100_us, Category::software);
    idling.signal_poller(self, sync, Category::completion);
    self.settle();
    CHECK(2 * (self.charged(Category::completion) - first) > first); // the waiter has had the mutex's line
  });
  engine.spawn("waiter", 0, 1, [&](SimThread& self) {
    self.spend(50_us, Category::software);
    sync.guard.mutex.lock(self, Category::blocked);
    sync.guard.mutex.unlock(self, Category::blocked);
  });
  engine.run();
}
