// Work of a chosen duration that touches no memory.
#pragma once

#include <cstdint>

namespace contend::native {

/// `rounds` dependent steps of arithmetic that the compiler keeps.
inline void busy_rounds(std::int64_t rounds) {
  for (std::int64_t round = 0; round < rounds; ++round) {
    asm volatile("" : "+r"(round));
  }
}

/// How many rounds take a nanosecond on this machine: the fastest of several trials, so that interruptions do not count.
[[nodiscard]] double busy_rounds_per_ns();

} // namespace contend::native
