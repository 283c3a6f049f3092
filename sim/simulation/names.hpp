// What the registries know, for the scenario loader.
#pragma once

#include "scenario/names.hpp"

namespace contend {

/// Names of all registered parts.
[[nodiscard]] KnownNames known_names();

} // namespace contend
