// Reference documentation of the scenario format, derived from the field declarations.
#pragma once

#include "scenario/names.hpp"

#include <string>

namespace contend {

/// A Markdown page: one table per section with path, allowed values, default and meaning.
[[nodiscard]] std::string scenario_reference(const KnownNames& names);

} // namespace contend
