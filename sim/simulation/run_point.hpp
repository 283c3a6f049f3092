// A resolved point in, its result out, both as JSON: the form in which other processes and languages use the simulator.
#pragma once

#include "core/backend.hpp"
#include "scenario/config.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace contend {

/// What else than the result is wanted of a run.
struct RunPointOptions {
  std::function<std::unique_ptr<Backend>()> make_backend; ///< empty: contend's own engine
  bool hash_events = false;                               ///< event_hash in the result
  bool explain = false;                                   ///< who waits for whom: explain in the result
  std::string trace_file;                                 ///< see ChromeTrace; empty: none. trace in the result
  std::uint64_t trace_limit_bytes = 100'000'000;
  std::string trace_title; ///< see SimulationOptions
  const std::atomic<bool>* stop = nullptr;
};

/// Runs one replication of a point. The result has message_rate (1/s), elapsed_s and simulated_s, events, counters,
/// time_by_category_ns by role, and what the options ask for. Throws what simulate() throws.
[[nodiscard]] std::string run_point(const PointConfig& config, int replication, const RunPointOptions& wanted = {});

/// The same for contend::to_json of a point. Throws ScenarioError for a bad one.
[[nodiscard]] std::string run_point(std::string_view config_json, int replication, const RunPointOptions& wanted = {});

} // namespace contend
