// How long the iterations of the threads of a process took.
#pragma once

#include <cstdint>
#include <vector>

namespace contend::native {

/// An iteration ends when the last thread of the process leaves it. `ends_ns[thread][iteration]`; results in seconds.
[[nodiscard]] std::vector<double> iteration_times(std::int64_t start_ns,
                                                  const std::vector<const std::vector<std::int64_t>*>& ends_ns);

} // namespace contend::native
