// What a thread does between two looks at a variable that others write.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace contend::native {

/// Size of what two cores pass to each other; neighbouring lines are fetched in pairs on x86, hence twice 64.
inline constexpr int line_bytes = 128;

inline void spin_pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

} // namespace contend::native
