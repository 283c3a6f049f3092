// The prices in a scenario: what would make a machine faster if it were lower.
#pragma once

#include "scenario/config.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// One price of the machine or the route: a time, or a rate, whose price is the time per byte.
struct Cost {
  std::string path; ///< dotted, in a resolved point (contend::to_json)
  std::string doc;
  std::string value; ///< as it stands in JSON
  bool free = false; ///< it cannot be lowered
};

/// All times and rates of the machine and the route, in the order of a resolved point.
[[nodiscard]] std::vector<Cost> costs_of(const PointConfig& point);

/// Multiplies the price at `path` by `factor` (0 to 1), or makes it as low as a scenario may have it. Returns whether the
/// result is not the price times the factor: rounded up to the bound. Throws std::invalid_argument for a path that is no
/// price.
bool scale_cost(PointConfig& point, std::string_view path, double factor);

} // namespace contend
