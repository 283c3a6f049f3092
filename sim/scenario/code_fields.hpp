// Fields of the machine: what a library's own code costs.
#pragma once

#include "scenario/fields.hpp"

namespace contend::scenario {

[[nodiscard]] Section matching_fields();
[[nodiscard]] Section software_fields();
[[nodiscard]] Section waiting_fields();
[[nodiscard]] Section datatype_fields();
[[nodiscard]] Section coroutine_fields();

} // namespace contend::scenario
