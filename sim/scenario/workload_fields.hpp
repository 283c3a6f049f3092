// Fields of the workload: each kind has its own.
#pragma once

#include "scenario/fields.hpp"

namespace contend::scenario {

[[nodiscard]] Section workload_fields();

} // namespace contend::scenario
