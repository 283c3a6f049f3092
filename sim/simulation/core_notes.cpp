#include "simulation/core_notes.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace contend {

std::optional<std::string> too_few_turns(const Engine& engine, const SchedulerParameters& scheduler, Duration elapsed) {
  constexpr int enough = 50;
  const Duration turn = std::max(scheduler.slice, scheduler.tick);
  const bool queue = std::any_of(engine.threads().begin(), engine.threads().end(), [&](const auto& thread) {
    return thread->times()[static_cast<std::size_t>(Category::run_queue)] * 100 > elapsed;
  });
  if (!queue || elapsed >= turn * enough) {
    return std::nullopt;
  }
  return "the timed part is shorter than " + std::to_string(enough) +
         " time slices: where threads share cores a longer one (more iterations or operations) may have another rate";
}

std::optional<std::string> siblings_at_full_speed(const Engine& engine, const TopologyParameters& topology) {
  std::map<std::pair<int, int>, std::set<int>> used; // hardware threads, by host and core
  for (const auto& thread : engine.threads()) {
    used[{thread->host(), thread->core() / topology.threads_per_core}].insert(thread->core());
  }
  const auto doubled =
      std::count_if(used.begin(), used.end(), [](const auto& entry) { return entry.second.size() > 1; });
  if (doubled == 0) {
    return std::nullopt;
  }
  return "threads run side by side on the hardware threads of " + std::to_string(doubled) +
         (doubled == 1 ? " core" : " cores") +
         ", each as fast as on a core of its own: that they share its execution units is not modelled";
}

} // namespace contend
