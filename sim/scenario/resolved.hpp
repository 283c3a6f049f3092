// The resolved form: every value written out.
#pragma once

#include "scenario/fields.hpp"
#include "scenario/sweep.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace contend::scenario {

/// All values of a section, in canonical form and declared order.
[[nodiscard]] nlohmann::ordered_json dump_section(const Section& section, const PointConfig& point);

/// A whole scenario that loads without profile, platform or other files.
[[nodiscard]] nlohmann::ordered_json dump_scenario(const PointConfig& base, const std::string& description,
                                                   const Sweep& sweep);

} // namespace contend::scenario
