// What each kind of workload is told. A kind is a struct here and a section in scenario/workload_fields.cpp.
#pragma once

#include "workloads/programs/parameters.hpp"

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

/// RMA-MT (Sandia and Los Alamos): the threads of one process put into or get from another one, and synchronise.
struct RmaMtParameters {
  std::string operation = "put";                ///< put, get, accumulate, fetch-and-op
  std::string synchronisation = "flush";        ///< flush, flush-all, flush-local, lock, lock-all, fence
  std::string synchronised_by = "every-thread"; ///< who flushes: every-thread, or one-thread for all
  bool window_per_thread = false;               ///< else all threads share one window
  int threads = 1;
  std::int64_t message_size_bytes = 1;
  int operations = 1000; ///< of each thread, before it synchronises
  int iterations = 3;
  int warmup_iterations = 1;
};

/// The workload of a point: `kind` says which of the structs applies.
struct WorkloadParameters {
  std::string kind = "multirate"; ///< key in the registry of workloads, or of programs
  MultirateParameters multirate;
  RmaMtParameters rma_mt;
  PingParameters ping;
  RingParameters ring;
  CollectiveParameters collective;
  ExchangeParameters exchange;
  MatrixProductParameters matrix_product;
  PipelineParameters pipeline;
  ReceiversParameters receivers;
  NasParameters nas;
};

} // namespace contend
