// JSON Schemas (draft 2020-12) of the two file formats, derived from the field declarations.
#pragma once

#include "scenario/names.hpp"

#include <nlohmann/json.hpp>

namespace contend {

/// Schema of a scenario file. What one file leaves to the file it extends is not required.
[[nodiscard]] nlohmann::ordered_json scenario_schema(const KnownNames& names);

/// Schema of a machine profile.
[[nodiscard]] nlohmann::ordered_json profile_schema();

/// JSON Schema of library presets.
[[nodiscard]] nlohmann::ordered_json preset_schema(const KnownNames& names);

} // namespace contend
