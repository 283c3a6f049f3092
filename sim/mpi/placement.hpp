// Where the processes and threads of a run are.
#pragma once

#include <string>

namespace contend {

struct PlacementParameters {
  /// How the threads of a host use its cores. one-per-core: each has one to itself; no operating system is simulated.
  /// The others share them: pinned: thread after thread, round robin; pinned-by-process: all threads of a process on one
  /// core, processes round robin (what a launcher does that binds processes to cores); floating: no thread is bound.
  std::string threads = "one-per-core";
  /// Where floating threads begin. in-turn: each on the core with fewest; by-process: all threads of a process on one core,
  /// processes round robin (where the thread runs that creates them).
  std::string start = "in-turn";
  /// Who has equal shares of cores that are crowded: threads, or processes, whatever their number of threads
  /// (core/grouped_queue.hpp), as where the launcher gives each process a session of its own.
  std::string shares = "threads";
  int cores = 0; ///< hardware threads of each host that are used, the first ones; 0: all
  int hosts = 2; ///< 1: both sides of the workload run on the same host, and talk through its interface

  [[nodiscard]] bool shares_cores() const { return threads != "one-per-core"; }
};

} // namespace contend
