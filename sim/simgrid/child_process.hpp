// Running something that may end its process in a process of its own.
#pragma once

#include <functional>
#include <string>

namespace contend {

struct ChildResult {
  bool succeeded = false; ///< `work` returned
  std::string answer;     ///< what `work` returned, or what() of the exception that it threw
  std::string output;     ///< what was written to standard output and standard error
  int signal = 0;         ///< what killed the child; 0 when it ended by itself
};

/// What a child may use before the system stops it.
struct ChildLimits {
  unsigned long cpu_seconds = 60;
  unsigned long memory_bytes = 4UL << 30; ///< of address space; not enforced under a sanitizer, which reserves more
};

/// Forks, calls `work` in the child and waits for its end. The child writes neither to this process's output nor a core
/// file. Errors: std::system_error when the system gives no process.
ChildResult run_in_child(const std::function<std::string()>& work, const ChildLimits& limits = {});

} // namespace contend
