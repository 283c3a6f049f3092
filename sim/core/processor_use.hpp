// What the operating system says of a thread: how long it had a processor, and how often it lost it.
#pragma once

#include "core/time.hpp"

#include <cstdint>

namespace contend {

/// What getrusage(2) counts, of one thread or of several together.
struct ProcessorUse {
  Duration processor{};                   ///< ru_utime and ru_stime together: neither asleep nor waiting for a core
  std::uint64_t voluntary_switches = 0;   ///< ru_nvcsw: it fell asleep
  std::uint64_t involuntary_switches = 0; ///< ru_nivcsw: others were given its core, also where sched_yield() left it
                                          ///< to them (Linux, __schedule() in kernel/sched/core.c)

  ProcessorUse& operator+=(const ProcessorUse& other) {
    processor += other.processor;
    voluntary_switches += other.voluntary_switches;
    involuntary_switches += other.involuntary_switches;
    return *this;
  }
};

} // namespace contend
