// What the registries know, for the scenario loader.
#pragma once

#include "scenario/names.hpp"

namespace contend {

/// Names of all registered parts, and what they say of themselves.
[[nodiscard]] KnownNames known_names();

} // namespace contend
