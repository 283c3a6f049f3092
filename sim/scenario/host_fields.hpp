// Fields of the machine: what the cores of a host cost: caches, locks, the operating system, memory.
#pragma once

#include "scenario/fields.hpp"

namespace contend::scenario {

[[nodiscard]] Section topology_fields();
[[nodiscard]] Section slow_core_fields();
[[nodiscard]] Section cache_fields();
[[nodiscard]] Section futex_fields();
[[nodiscard]] Section scheduler_fields();
[[nodiscard]] Section lock_fields();
[[nodiscard]] Section memory_fields();
[[nodiscard]] Section compute_fields();

} // namespace contend::scenario
