// A resolved point in, its result out, both as JSON: the form in which other processes and languages use the simulator.
#pragma once

#include "core/backend.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace contend {

/// Runs one replication of a point (contend::to_json of a PointConfig). `make_backend` empty: contend's own engine.
/// The result has message_rate (1/s), elapsed_s and simulated_s, events, counters, time_by_category_ns by role, and
/// event_hash if asked for. Throws ScenarioError for a bad point, and what simulate() throws.
[[nodiscard]] std::string run_point(std::string_view config_json, int replication,
                                    const std::function<std::unique_ptr<Backend>()>& make_backend = {},
                                    bool hash_events = false, const std::atomic<bool>* stop = nullptr);

} // namespace contend
