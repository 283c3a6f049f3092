#include "support/affinity.hpp"

#include "support/failure.hpp"

#include <sched.h>

namespace contend::native {

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) {
    throw Failure(ExitCode::system_error, "the cores that may be used cannot be read");
  }
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<unsigned>(core), &set)) {
      cores.push_back(core);
    }
  }
  return cores;
}

void bind_to_core(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(core), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    throw Failure(ExitCode::system_error, "a thread cannot be bound to core " + std::to_string(core));
  }
}

void bind_compact(const std::vector<int>& cores, std::size_t n) { bind_to_core(cores[n % cores.size()]); }

} // namespace contend::native
