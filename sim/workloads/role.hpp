// Who a thread is in the workload's pattern.
#pragma once

namespace contend {

/// Results are summed up by role.
enum class Role { sender, receiver };

} // namespace contend
