// Fields of the machine: what carries messages: adapters, sockets, shared memory.
#pragma once

#include "scenario/fields.hpp"

namespace contend::scenario {

[[nodiscard]] Section nic_fields();
[[nodiscard]] Section rdma_fields();
[[nodiscard]] Section tcp_fields();
[[nodiscard]] Section shared_memory_fields();
[[nodiscard]] Section channel_fields();

} // namespace contend::scenario
