// Machine profiles: files in which every price has a source.
#pragma once

#include "scenario/names.hpp"
#include "scenario/node.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace contend::scenario {

/// Key under which a profile keeps how its values were found. It is for people and for contend's calibration: nothing in it
/// steers a simulation.
inline constexpr const char* profile_calibration_key = "calibration";

/// Keys of a profile besides the sections of the machine.
[[nodiscard]] const std::vector<std::string>& profile_text_keys();

/// Replaces the reference to a profile in a scenario's machine section by the profile's values; values that the scenario
/// gives itself stay. Without a reference nothing happens. Throws ScenarioError when the profile cannot be used.
void insert_profile(Node& machine, const std::vector<std::filesystem::path>& directories, const KnownNames& names);

} // namespace contend::scenario
