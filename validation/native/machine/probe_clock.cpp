// One reading of the clock: what every time in the other probes contains.
#include "machine/probe.hpp"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace contend::native {

void probe_clock(ProbeContext& context) {
  context.add_point("clock", {{"clock", "steady_clock"}}, [&context] {
    return time_each(context.iterations, [] {
      const std::int64_t now = now_ns();
      asm volatile("" : : "r"(now));
    });
  });
#if defined(__x86_64__)
  context.add_point("clock", {{"clock", "tsc"}}, [&context] {
    return time_each(context.iterations, [] {
      const unsigned long long now = __rdtsc();
      asm volatile("" : : "r"(now));
    });
  });
#endif
}

} // namespace contend::native
