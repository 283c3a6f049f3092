// The open sets of names that a scenario may use. The engine's registries know them; the loader is told.
#pragma once

#include <string>
#include <vector>

namespace contend {

/// Registered names by kind. A name that is not listed is refused, with the nearest listed one as a hint.
struct KnownNames {
  std::vector<std::string> locks;
  std::vector<std::string> matching;
  std::vector<std::string> progress;
  std::vector<std::string> assignments;
  std::vector<std::string> workloads; ///< of threads and of processes that are coroutines
  std::vector<std::string> transports;
  std::vector<std::string> notifications;
  std::vector<std::string> idling;
  std::vector<std::string> partitioned;
  std::vector<std::string> schedulers;
  std::vector<std::string> process_queues;
  std::vector<std::string> window_paths;
};

} // namespace contend
