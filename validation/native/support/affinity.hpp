// Which cores this process may use, and binding of threads to them.
#pragma once

#include <cstddef>
#include <vector>

namespace contend::native {

/// Cores that the calling thread may use, ascending. Call before anything is bound.
[[nodiscard]] std::vector<int> allowed_cores();

/// Binds the calling thread. Throws Failure(system_error).
void bind_to_core(int core);

/// Binds to the n-th of the cores, beginning again after the last.
void bind_compact(const std::vector<int>& cores, std::size_t n);

} // namespace contend::native
