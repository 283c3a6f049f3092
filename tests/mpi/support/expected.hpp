// How many messages a run of Multirate sends, from the description of the published benchmark.
#pragma once

#include "workloads/parameters.hpp"

#include <cstdint>

namespace contend::test {

struct Expected {
  std::int64_t data = 0;
  std::int64_t handshakes = 0;
  std::int64_t sending_ranks = 0;
  std::int64_t receiving_ranks = 0;
};

/// Of the whole run.
inline Expected expected(const MultirateParameters& workload) {
  const bool pairwise = workload.pattern == "pairwise";
  const int senders = pairwise ? workload.pairs : workload.senders;
  const int receivers = pairwise ? workload.pairs : workload.receivers;
  const bool sending_threads = workload.mode == "thread" || workload.mode == "thread-to-process";
  const bool receiving_threads = workload.mode == "thread" || workload.mode == "process-to-thread";
  Expected result;
  result.sending_ranks = sending_threads ? 1 : senders;
  result.receiving_ranks = receiving_threads ? 1 : receivers;
  const int iterations = workload.iterations + workload.warmup_iterations;
  result.data = std::int64_t{workload.window} * iterations * senders * (pairwise ? 1 : receivers);
  // Pairwise: ready and acknowledgement of each pair. Else: ready from each receiving process to the first sender, and
  // an acknowledgement from each receiving to each sending process.
  result.handshakes = iterations * (pairwise ? std::int64_t{2} * senders
                                             : result.receiving_ranks + result.receiving_ranks * result.sending_ranks);
  return result;
}

} // namespace contend::test
