// Waking a thread whose core is busy: how long until it runs, by how long it has slept.
#include "machine/probe.hpp"
#include "support/affinity.hpp"
#include "support/futex.hpp"
#include "support/statistics.hpp"

#include <atomic>
#include <thread>
#include <vector>

namespace contend::native {

namespace {

void spin_until(std::int64_t time_ns) {
  while (now_ns() < time_ns) {
  }
}

/// A thread that sleeps until it is woken, again and again, and says when it runs.
class Sleeper {
public:
  explicit Sleeper(int core)
      : thread_([this, core] {
          bind_to_core(core);
          for (int round = 1;; ++round) {
            asleep_.store(round, std::memory_order_release);
            while (word_.load(std::memory_order_acquire) < round) {
              futex_wait(word_, round - 1);
            }
            if (ends_.load(std::memory_order_acquire)) {
              return;
            }
            ran_ns_.store(now_ns(), std::memory_order_relaxed);
            awake_.store(round, std::memory_order_release);
          }
        }) {}
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() {
    ends_.store(true, std::memory_order_release);
    wake(1 << 30);
  }

  /// Waits until it is about to sleep for that time.
  void await_sleep(int round) const {
    while (asleep_.load(std::memory_order_acquire) < round) {
    }
  }
  void wake(int round) {
    word_.store(round, std::memory_order_release);
    futex_wake_one(word_);
  }
  /// Waits until it has run; the waker goes on spinning, as a thread does that makes progress.
  void await_run(int round) const {
    while (awake_.load(std::memory_order_acquire) < round) {
    }
  }
  [[nodiscard]] std::int64_t ran_ns() const { return ran_ns_.load(std::memory_order_relaxed); }

private:
  FutexWord word_{0};
  FutexWord asleep_{0};
  FutexWord awake_{0};
  std::atomic<bool> ends_{false};
  std::atomic<std::int64_t> ran_ns_{0};
  std::jthread thread_;
};

/// Threads that compute for ever, one on each core.
class Spinners {
public:
  explicit Spinners(const std::vector<int>& cores) {
    for (const int core : cores) {
      threads_.emplace_back([this, core] {
        bind_to_core(core);
        while (!ends_.load(std::memory_order_relaxed)) {
        }
      });
    }
  }
  Spinners(const Spinners&) = delete;
  Spinners& operator=(const Spinners&) = delete;
  ~Spinners() { ends_.store(true); }

private:
  std::atomic<bool> ends_{false};
  std::vector<std::jthread> threads_;
};

/// Median time from the call that wakes until the sleeper runs on core `to`, where somebody computes. On one core the waker is
/// that somebody.
double busy_wake(int from, int to, std::int64_t slept_ns, std::int64_t count) {
  const Spinners spinners(from == to ? std::vector<int>{} : std::vector<int>{to});
  Sleeper sleeper(to);
  std::vector<double> times;
  std::jthread([&] {
    bind_to_core(from);
    for (int round = 1; round <= count; ++round) {
      sleeper.await_sleep(round);
      spin_until(now_ns() + slept_ns);
      const std::int64_t before = now_ns();
      sleeper.wake(round);
      sleeper.await_run(round);
      times.push_back(seconds(sleeper.ran_ns() - before));
    }
  }).join();
  return median(times);
}

} // namespace

void probe_busy_wake(ProbeContext& context) {
  constexpr std::int64_t most = 30; // each may wait for a slice to end
  constexpr std::int64_t microsecond = 1'000;
  const int to = context.cores.front();
  for (const int from : {to, context.cores.back()}) {
    for (const std::int64_t slept : {100, 300, 500, 700, 900, 1200, 2000}) {
      context.add_point("busy_wake", {{"from_core", from}, {"to_core", to}, {"slept_us", slept}},
                        [&] { return busy_wake(from, to, slept * microsecond, context.at_most(most)); });
    }
    if (from == context.cores.back()) {
      break;
    }
  }
}

} // namespace contend::native
