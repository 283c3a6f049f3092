// Tests that run many steps or many stacks run fewer of them under a sanitizer, which is 20 to 50 times slower and has
// its own limits on the number of fibers.
#pragma once

#include "core/fiber.hpp"

namespace contend::test {

#if defined(CONTEND_ASAN_FIBERS) || defined(CONTEND_TSAN_FIBERS)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

} // namespace contend::test
