// Sweeps: some fields take several values; every combination is a point.
#pragma once

#include "scenario/fields.hpp"
#include "scenario/loader.hpp"
#include "scenario/node.hpp"
#include "scenario/preset.hpp"
#include "scenario/reader.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

namespace contend::scenario {

/// One value of an axis.
struct AxisValue {
  nlohmann::ordered_json parameter; ///< among the parameters of a point
  nlohmann::ordered_json written;   ///< in the sweep of a resolved scenario
  std::function<void(PointConfig&)> apply;
};

/// What is swept, a field or the whole library design, and its values.
struct Axis {
  std::string path;           ///< key in the sweep
  std::string name;           ///< key among the parameters of a point
  bool whole_designs = false; ///< written as an object of designs by name; single fields of the design are set after it
  std::vector<AxisValue> values;
  const Node* node = nullptr; ///< where it is written
};

/// Reads the sweep (nullptr: none), whose axis over designs stands for `designs`. Adds diagnostics for unknown paths, bad or
/// repeated values and too many points; then the axes are not to be used.
[[nodiscard]] std::vector<Axis> read_sweep(const Node* sweep, const std::vector<NamedDesign>& designs,
                                           std::size_t max_points, Reading& reading);

/// All combinations, first axis slowest.
[[nodiscard]] std::vector<ResolvedPoint> expand(const PointConfig& base, const std::vector<Axis>& axes);

/// Whether a kind can be swept as a range: its values are whole numbers in memory.
[[nodiscard]] bool has_ranges(Kind kind);

} // namespace contend::scenario
