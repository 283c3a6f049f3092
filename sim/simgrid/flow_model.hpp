// What SimGrid's flow-level network model says about flows over links: the reference for models/fabric/flow_network.hpp.
#pragma once

#include "core/time.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace contend {

struct FlowProblem {
  struct Flow {
    Duration start{};
    std::vector<std::size_t> route; ///< links, each at most once
    std::int64_t bytes = 0;
    double limit = std::numeric_limits<double>::infinity(); ///< bytes per second that the flow never exceeds
  };
  std::vector<double> capacities; ///< by link, bytes per second
  std::vector<Flow> flows;
};

/// When each flow has ended, by SimGrid: model CM02 without correction factors, windows, cross-traffic and latency, so that
/// nothing but its max-min sharing is left. One SimGrid second is one microsecond; SimGrid is asked for dates to a
/// femtosecond. A child process does it, because SimGrid can hold one platform in a process.
///
/// Errors: std::runtime_error with what SimGrid says. Requires: no S4U backend has been made in this process, and the
/// process has one thread.
[[nodiscard]] std::vector<Duration> simgrid_flow_ends(const FlowProblem& problem);

} // namespace contend
