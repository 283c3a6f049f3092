// What a signal costs the signaller on a core that it shares with the sleepers, if these spin until its last step is done, as
// threads of Open MPI do that leave a sync object (WAIT_SYNC_SIGNAL, WAIT_SYNC_RELEASE). A sleeper that takes the core at the
// signal spins through its slice, for the signaller has a step to do yet; so the time of a signal is a slice, or next to nothing.
// Which, depends on the scheduler's rule for who keeps the core: a thread that has had less than its share does.
#include "machine/probe.hpp"
#include "support/affinity.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace contend::native {

namespace {

constexpr std::int64_t microsecond = 1'000;

void spin_for(std::int64_t time_ns) {
  const std::int64_t end = now_ns() + time_ns;
  while (now_ns() < end) {
  }
}

/// A thread that sleeps until it is signalled, waits until the signaller is done with it, computes a little, and sleeps again.
class GuardedSleeper {
public:
  explicit GuardedSleeper(int core) : thread_([this, core] { run(core); }) {}
  GuardedSleeper(const GuardedSleeper&) = delete;
  GuardedSleeper& operator=(const GuardedSleeper&) = delete;
  ~GuardedSleeper() {
    ends_.store(true);
    signal();
  }

  void signal() {
    asleep_.store(false, std::memory_order_relaxed);
    signalling_.store(true, std::memory_order_relaxed);
    {
      const std::lock_guard guard(mutex_);
      signalled_ = true;
      condition_.notify_one();
    }
    signalling_.store(false, std::memory_order_release);
  }

  /// About to sleep, or asleep.
  [[nodiscard]] bool asleep() const { return asleep_.load(std::memory_order_acquire); }

private:
  void run(int core) {
    bind_to_core(core);
    do {
      std::unique_lock lock(mutex_);
      asleep_.store(true, std::memory_order_release);
      condition_.wait(lock, [this] { return signalled_; });
      signalled_ = false;
      lock.unlock();
      while (signalling_.load(std::memory_order_acquire)) {
      }
      spin_for(10 * microsecond);
    } while (!ends_.load());
  }

  std::mutex mutex_;
  std::condition_variable condition_;
  bool signalled_ = false;
  std::atomic<bool> signalling_{false};
  std::atomic<bool> asleep_{false};
  std::atomic<bool> ends_{false};
  std::jthread thread_;
};

/// Mean time that a signal takes on the core of all, where the signaller computes for a while before each round of signals.
double guarded_wake(int core, std::int64_t sleepers, std::int64_t rounds) {
  double spent = 0.0;
  std::jthread([&] {
    bind_to_core(core);
    std::deque<GuardedSleeper> team;
    for (std::int64_t i = 0; i < sleepers; ++i) {
      team.emplace_back(core);
    }
    for (std::int64_t round = 0; round < rounds; ++round) {
      for (const GuardedSleeper& sleeper : team) {
        while (!sleeper.asleep()) {
        }
      }
      spin_for(200 * microsecond);
      for (GuardedSleeper& sleeper : team) {
        const std::int64_t begin = now_ns();
        sleeper.signal();
        spent += seconds(now_ns() - begin);
      }
    }
  }).join();
  return spent / static_cast<double>(rounds * sleepers);
}

} // namespace

void probe_guarded_wake(ProbeContext& context) {
  constexpr std::int64_t most =
      30; // a round may take a slice for each sleeper, and another until the signaller has its turn
  const int core = context.cores.front();
  for (const std::int64_t sleepers : {1, 2, 4, 8}) {
    context.add_point("guarded_wake", {{"core", core}, {"sleepers", sleepers}},
                      [&] { return guarded_wake(core, sleepers, context.at_most(most)); });
  }
}

} // namespace contend::native
