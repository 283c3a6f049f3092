// Fields of the fabric, the library design and the run.
#pragma once

#include "scenario/fields.hpp"

namespace contend::scenario {

[[nodiscard]] Section fabric_fields();
[[nodiscard]] Section library_fields();
[[nodiscard]] Section placement_fields();
[[nodiscard]] Section run_fields();

} // namespace contend::scenario
