// Sweeps: some fields take several values; every combination is a point.
#pragma once

#include "scenario/fields.hpp"
#include "scenario/loader.hpp"
#include "scenario/node.hpp"
#include "scenario/preset.hpp"
#include "scenario/reader.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
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
  std::string pointer;        ///< likewise
};

/// All axes, and what their values combine to.
struct Sweep {
  std::vector<Axis> axes;
  bool listed = false; ///< written as a list of points: the n-th has the n-th value of each axis
};

/// What the sweep (nullptr: none) says about whole designs, as an axis: nothing when it does not vary them. Throws
/// ScenarioError when a list of points names designs wrongly.
[[nodiscard]] std::optional<Node> axis_of_designs(const Node* sweep);

/// Reads the sweep (nullptr: none) of fields that `base` has; its axis over designs stands for `designs`. Adds diagnostics
/// for unknown paths, bad or repeated values and too many points; then the axes are not to be used.
[[nodiscard]] Sweep read_sweep(const Node* sweep, const PointConfig& base, const std::vector<NamedDesign>& designs,
                               std::size_t max_points, Reading& reading);

/// All points: of axes every combination, first axis slowest; of a list its points.
[[nodiscard]] std::vector<ResolvedPoint> expand(const PointConfig& base, const Sweep& sweep);

/// The sweep as it stands in a resolved scenario.
[[nodiscard]] nlohmann::ordered_json dump_sweep(const Sweep& sweep);

/// Whether a kind can be swept as a range: its values are whole numbers in memory.
[[nodiscard]] bool has_ranges(Kind kind);

} // namespace contend::scenario
