// Fields of the machine: topology and measured prices.
#pragma once

#include "scenario/fields.hpp"

namespace contend::scenario {

[[nodiscard]] Section machine_fields();

} // namespace contend::scenario
