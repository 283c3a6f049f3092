// Combinations of values that are each allowed but make no sense, or ask for what the simulator does not have, together.
#pragma once

#include "scenario/fabric.hpp"
#include "scenario/loader.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace contend::scenario {

/// Finds the node at fault for a field's dotted path: the axis when the field is swept, the sweep when it is not and only
/// some points have the mistake, else the value itself. There the message says as well what the field at `other` is, and
/// who says so, if that is not empty.
using Locate = std::function<Diagnostic(const std::string& path, const std::string& other, const std::string& message,
                                        bool everywhere)>;

/// Checks all points, by what their parts say of themselves; each kind of mistake is reported once, for the first point that has it.
void check_points(const std::vector<ResolvedPoint>& points, const std::optional<PlatformFacts>& platform,
                  const StatedTraits& traits, const Locate& locate, Diagnostics& diagnostics);

} // namespace contend::scenario
