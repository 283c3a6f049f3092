// The route of a scenario: given by its two values, or asked once from a platform.
#pragma once

#include "scenario/loader.hpp"
#include "scenario/node.hpp"

#include <optional>
#include <string>

namespace contend::scenario {

/// What a platform said, kept for comparing it with the machine.
struct PlatformFacts {
  std::string platform; ///< file name
  std::string from;
  std::string to;
  int from_cores = 0;
  int to_cores = 0;
};

/// Replaces platform, from and to in the fabric by latency and bandwidth; those that the command line gives stay.
/// Nothing happens, and nothing is returned, when no platform is named.
std::optional<PlatformFacts> insert_route(Node& fabric, const RouteResolver& resolve, Diagnostics& diagnostics);

} // namespace contend::scenario
