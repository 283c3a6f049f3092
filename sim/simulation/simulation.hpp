// One run of one scenario point: builds the world, runs it, and sums up.
#pragma once

#include "core/backend.hpp"
#include "core/chrome_trace.hpp"
#include "scenario/config.hpp"
#include "simulation/explanation.hpp"
#include "workloads/workload.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// What one replication of one point came to.
struct PointResult {
  WorkloadResult workload;
  SpcCounters sender;   ///< summed over sending processes
  SpcCounters receiver; ///< summed over receiving processes
  /// Further counters, by name.
  std::vector<std::pair<std::string, std::int64_t>> more_counters;
  Duration simulated{};
  std::uint64_t steps = 0;
  std::vector<std::string> notes;                ///< see World::notes
  std::optional<Scheduler::Counters> scheduling; ///< of all hosts, where threads share cores
  std::uint64_t step_hash = 0;                   ///< of the sequence of (time, target); 0 unless asked for
  std::optional<Explanation> explanation;        ///< if asked for
  std::optional<ChromeTrace::Summary> trace;     ///< if asked for
};

struct SimulationOptions {
  int replication = 0;                                    ///< each has its own random streams
  std::function<std::unique_ptr<Backend>()> make_backend; ///< empty: contend's own engine
  bool hash_steps = false;
  std::uint64_t step_limit = ~std::uint64_t{0};      ///< see Engine::set_step_limit
  std::uint64_t idle_step_limit = ~std::uint64_t{0}; ///< see Engine::set_idle_step_limit
  const std::atomic<bool>* stop = nullptr;           ///< see Engine::set_stop_flag
  bool explain = false;                              ///< who waits for whom
  std::string trace_file;                            ///< see ChromeTrace; empty: none. Not together with `explain`
  std::uint64_t trace_limit_bytes = 0;
  std::string trace_title; ///< what the trace calls itself; empty: the scenario's name and the replication
};

/// Operations of one replication, warm-up included.
[[nodiscard]] std::uint64_t planned_operations(const PointConfig& config);

/// Steps after which a replication of a scenario counts as endless (`run.steps_per_operation`).
[[nodiscard]] std::uint64_t most_steps(const PointConfig& config);

/// Throws Deadlock, InvariantViolation or Stopped; then a trace shows what happened until there. Throws std::system_error
/// if the trace cannot be written.
PointResult simulate(const PointConfig& config, const SimulationOptions& options);

} // namespace contend
