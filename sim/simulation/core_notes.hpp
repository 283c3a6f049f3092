// What a result says of how its threads had cores.
#pragma once

#include "core/engine.hpp"
#include "core/host.hpp"
#include "core/machine_parameters.hpp"

#include <optional>
#include <string>

namespace contend {

/// Threads that wait for each other's cores have had few turns when the run is over, after `elapsed` of timed part.
[[nodiscard]] std::optional<std::string> too_few_turns(const Engine& engine, const SchedulerParameters& scheduler,
                                                       Duration elapsed);

/// Hardware threads of one core have run threads, each as fast as a core of its own: execution units are not modelled.
[[nodiscard]] std::optional<std::string> siblings_at_full_speed(const Engine& engine,
                                                                const TopologyParameters& topology);

} // namespace contend
