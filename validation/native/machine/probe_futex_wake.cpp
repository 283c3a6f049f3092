// Waking a thread that sleeps in the kernel: what the waker pays, and how long it takes until the sleeper runs.
#include "machine/probe.hpp"
#include "support/affinity.hpp"
#include "support/futex.hpp"
#include "support/statistics.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace contend::native {

namespace {

struct Wakes {
  double call_s;
  double wakeup_s;
  double spread_s; ///< interquartile range of single wake-ups
};

/// Medians over `count` wake-ups, and their spread. The sleeper is given time to fall asleep before each.
Wakes wake(int from, int to, std::int64_t count) {
  constexpr auto time_to_sleep = std::chrono::microseconds(60);
  FutexWord word{0};
  FutexWord awake{0};
  std::atomic<std::int64_t> woken_ns{0};
  std::vector<double> calls;
  std::vector<double> wakeups;
  std::jthread sleeper([&] {
    bind_to_core(to);
    for (int round = 1; round <= count; ++round) {
      while (word.load(std::memory_order_acquire) != round) {
        futex_wait(word, round - 1);
      }
      woken_ns.store(now_ns(), std::memory_order_relaxed);
      awake.store(round, std::memory_order_release);
    }
  });
  std::jthread waker([&] {
    bind_to_core(from);
    for (int round = 1; round <= count; ++round) {
      std::this_thread::sleep_for(time_to_sleep);
      const std::int64_t before = now_ns();
      word.store(round, std::memory_order_release);
      futex_wake_one(word);
      const std::int64_t after = now_ns();
      while (awake.load(std::memory_order_acquire) != round) {
        std::this_thread::yield();
      }
      calls.push_back(seconds(after - before));
      wakeups.push_back(seconds(woken_ns.load(std::memory_order_relaxed) - before));
    }
  });
  sleeper.join();
  waker.join();
  std::sort(wakeups.begin(), wakeups.end());
  return {median(calls), quantile(wakeups, 0.5), quantile(wakeups, 0.75) - quantile(wakeups, 0.25)};
}

} // namespace

void probe_futex_wake(ProbeContext& context) {
  constexpr std::int64_t most = 500; // each takes a sleep
  for (const int from : context.cores) {
    for (const int to : context.cores) {
      context.add_point("futex_wake", {{"from_core", from}, {"to_core", to}, {"part", "call"}},
                        [&] { return wake(from, to, context.at_most(most)).call_s; });
      context.add_point("futex_wake", {{"from_core", from}, {"to_core", to}, {"part", "wakeup"}},
                        [&] { return wake(from, to, context.at_most(most)).wakeup_s; });
      context.add_point("futex_wake", {{"from_core", from}, {"to_core", to}, {"part", "spread"}},
                        [&] { return wake(from, to, context.at_most(most)).spread_s; });
    }
    if (from == context.cores.front() && context.cores.size() > 8) {
      return; // all pairs of a large machine would take minutes: the first core with every other must do
    }
  }
}

} // namespace contend::native
