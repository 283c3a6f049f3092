// Sweeps: some fields take several values; every combination is a point.
#pragma once

#include "scenario/fields.hpp"
#include "scenario/loader.hpp"
#include "scenario/node.hpp"

#include <string>
#include <vector>

namespace contend::scenario {

/// One swept field and its values.
struct Axis {
  const Field* field = nullptr;
  std::string name; ///< key among the parameters of a point
  std::vector<Value> values;
  const Node* node = nullptr; ///< where it is written
};

/// Reads the sweep (nullptr: none) of fields that `base` has. Adds diagnostics for unknown paths, bad or repeated values and too many points; then
/// the axes are not to be used.
[[nodiscard]] std::vector<Axis> read_sweep(const Node* sweep, const PointConfig& base, std::size_t max_points,
                                           const KnownNames& names, Diagnostics& diagnostics);

/// All combinations, first axis slowest.
[[nodiscard]] std::vector<ResolvedPoint> expand(const PointConfig& base, const std::vector<Axis>& axes);

/// Whether a kind can be swept as a range: its values are whole numbers in memory.
[[nodiscard]] bool has_ranges(Kind kind);

} // namespace contend::scenario
