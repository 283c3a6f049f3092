// A host whose threads share cores, and a watcher of who has had a core when.
#pragma once

#include "core/engine.hpp"
#include "core/host.hpp"
#include "core/scheduler.hpp"
#include "times.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace contend::test {

/// Slices end exactly, and nothing but running costs time.
inline SchedulerParameters free_scheduler(const std::string& policy) {
  SchedulerParameters parameters;
  parameters.policy = policy;
  parameters.latency = 6_ms;
  parameters.slice = policy == "cfs" ? 750_us : 3_ms;
  parameters.wakeup_granularity = 1_ms;
  parameters.balance_period = 1_ms;
  parameters.busy_factor = 2; // two cores look every 4 ms
  return parameters;
}

/// With everything that costs time, each at a price of its own.
inline SchedulerParameters costly_scheduler(const std::string& policy) {
  SchedulerParameters parameters = free_scheduler(policy);
  parameters.tick = 1_ms;
  parameters.tick_cost = 2'003_ns;
  parameters.context_switch = 1'301_ns;
  parameters.process_switch = 401_ns;
  parameters.cache_refill = 3'701_ns;
  parameters.cache_hot = 500_us;
  parameters.switch_jitter = 151_ns;
  return parameters;
}

struct SharedHost {
  SharedHost(int cores, const SchedulerParameters& parameters, std::uint64_t seed = 1,
             const FutexParameters& futex = {}, const CacheParameters& cache = {})
      : engine(seed), host({1, 8, 1}, cache, futex), scheduler(engine, host, 0, parameters, cores) {
    engine.set_step_limit(20'000'000);
  }
  ~SharedHost() { engine.abandon(); }
  SharedHost(const SharedHost&) = delete;
  SharedHost& operator=(const SharedHost&) = delete;

  SimThread& spawn(const std::string& name, SimThread::Body body) { return scheduler.spawn(name, {}, std::move(body)); }
  SimThread& spawn_on(int core, const std::string& name, SimThread::Body body) {
    Scheduler::Placement placement;
    placement.allowed.set(static_cast<std::size_t>(core));
    return scheduler.spawn(name, placement, std::move(body));
  }
  SimThread& spawn_weighted(int weight, const std::string& name, SimThread::Body body) {
    Scheduler::Placement placement;
    placement.weight = weight;
    return scheduler.spawn(name, placement, std::move(body));
  }
  [[nodiscard]] Duration elapsed() const { return engine.now().since_start(); }

  Engine engine;
  Host host;
  Scheduler scheduler;
};

/// Keeps every span. Threads sleep in category blocked, and in no other.
class SpanWatcher final : public TraceSink {
public:
  struct Span {
    int thread;
    Category category;
    TimePoint begin;
    TimePoint end;
    [[nodiscard]] bool on_core() const { return category != Category::blocked && category != Category::run_queue; }
  };

  void span(const SimThread& thread, Category category, TimePoint begin, TimePoint end) override {
    spans.push_back({thread.id(), category, begin, end});
  }

  /// Cores in use over time: (since, how many).
  [[nodiscard]] std::vector<std::pair<TimePoint, int>> busy() const {
    std::vector<std::pair<TimePoint, int>> changes;
    for (const Span& span : spans) {
      if (span.on_core() && span.begin < span.end) {
        changes.emplace_back(span.begin, 1);
        changes.emplace_back(span.end, -1);
      }
    }
    std::sort(changes.begin(), changes.end()); // ends first
    int count = 0;
    for (auto& [time, change] : changes) {
      change = count += change;
    }
    return changes;
  }

  /// The longest time for which a thread waited for a core while one of `cores` idled.
  [[nodiscard]] Duration longest_idle_wait(int cores) const {
    const auto levels = busy();
    Duration longest;
    for (const Span& span : spans) {
      if (span.category != Category::run_queue) {
        continue;
      }
      Duration idle;
      for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
        const TimePoint from = std::max(levels[i].first, span.begin);
        const TimePoint to = std::min(levels[i + 1].first, span.end);
        if (from >= to) {
          continue;
        }
        idle = levels[i].second < cores ? idle + (to - from) : Duration{};
        longest = std::max(longest, idle);
      }
    }
    return longest;
  }

  std::vector<Span> spans;
};

} // namespace contend::test
