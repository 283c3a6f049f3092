// What each kind of workload is told. A kind is a struct here and a section in scenario/workload_fields.cpp.
#pragma once

#include <cstdint>
#include <string>

namespace contend {

/// Multirate (D. app. A): entities exchange windows of messages; rate = pairs * window * iterations / elapsed.
struct MultirateParameters {
  std::string pattern = "pairwise";
  std::string mode = "thread"; ///< thread: one process per host, a thread per entity; process: a rank per entity
  int pairs = 1;
  std::int64_t message_size_bytes = 0;
  int window = 128;
  int iterations = 10;
  int warmup_iterations = 2;
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
