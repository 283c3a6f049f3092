// The open sets of names that a scenario may use, and what is known of the parts behind them. The engine's registries know both;
// the loader is told.
#pragma once

#include <string>
#include <vector>

namespace contend {

/// What parts say of themselves, as checks of scenarios ask it: for each trait the names of those that say it. Any name may be
/// among them; none is known by what it is called. ProgressTraits, MatcherTraits, ... say what each means.
struct StatedTraits {
  // of progress engines
  std::vector<std::string> own_thread;
  std::vector<std::string> limits_pollers;
  std::vector<std::string> threads_idle;
  std::vector<std::string> threads_idle_beyond_limit;
  std::vector<std::string> reads_flags;
  std::vector<std::string> locks_requests;
  // of matching engines
  std::vector<std::string> queues_by_source;
  std::vector<std::string> in_interface;
  // of assignments of instances
  std::vector<std::string> by_thread;
  // of ways to learn of completions
  std::vector<std::string> request_flags;
  // of ways to idle
  std::vector<std::string> takes_tasks;
  // of designs of partitioned communication
  std::vector<std::string> puts;
  // of ways of transferring a buffer
  std::vector<std::string> by_partitions;
  std::vector<std::string> one_thread_sends;
};

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
  std::vector<std::string> buffer_transfers;
  StatedTraits traits;
};

} // namespace contend
