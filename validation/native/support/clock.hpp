// Time as all programs read it.
#pragma once

#include <chrono>
#include <cstdint>

namespace contend::native {

/// Nanoseconds of the monotonic clock of this host.
[[nodiscard]] inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

[[nodiscard]] inline double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

} // namespace contend::native
