// What each kind of workload is told. A kind is a struct here and a section in scenario/workload_fields.cpp.
#pragma once

#include <cstdint>
#include <string>

namespace contend {

/// Multirate (D. app. A): entities stream windows of messages; rate = all messages of the timed part / elapsed.
struct MultirateParameters {
  /// pairwise: sender i to receiver i; one-to-many, many-to-one, many-to-many: every sender to every receiver
  std::string pattern = "pairwise";
  /// thread: one process per host, a thread per entity; process: a process per entity; process-to-thread and
  /// thread-to-process: the hybrid ones, senders first
  std::string mode = "thread";
  int pairs = 1;     ///< entities on each side, pairwise
  int senders = 1;   ///< sending entities in the other patterns
  int receivers = 1; ///< receiving entities in the other patterns
  std::int64_t message_size_bytes = 0;
  int window = 128; ///< messages per entity and peer in an iteration
  int iterations = 10;
  int warmup_iterations = 2;
  /// Pairwise: all entities meet in every iteration, as in the benchmark's pairwise.c; or once, before the timed part, as in
  /// its multirate.c. The other patterns always meet.
  bool barrier_every_iteration = true;
  bool communicator_per_pair = false;
  bool allow_overtaking = false;
  bool any_tag = false;
};

/// The workload of a point: `kind` says which of the structs applies.
struct WorkloadParameters {
  std::string kind = "multirate"; ///< key in the workload registry
  MultirateParameters multirate;
};

} // namespace contend
