// What a result says of a design that programs have no use for.
#pragma once

#include "scenario/config.hpp"

#include <optional>
#include <string>

namespace contend {

/// Programs run on a library of their own (mpi/coroutines/). A note on the parts of the design that differ from what every design has and
/// change nothing there; nothing if there are none.
[[nodiscard]] std::optional<std::string> parts_without_effect(const PointConfig& config);

} // namespace contend
