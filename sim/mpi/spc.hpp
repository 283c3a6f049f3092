// Software performance counters, under the meaning they have in Open MPI.
#pragma once

#include "core/time.hpp"

#include <cstdint>

namespace contend {

/// Counters of one process since its start (warm-up included, as in the library). Messages of the library itself
/// (barriers) are not counted.
struct SpcCounters {
  std::int64_t sent = 0;                    ///< OMPI_SPC_ISEND: messages handed to the library
  std::int64_t received = 0;                ///< messages delivered to a receive
  std::int64_t posted = 0;                  ///< OMPI_SPC_IRECV
  std::int64_t out_of_sequence = 0;         ///< OMPI_SPC_OUT_OF_SEQUENCE
  std::int64_t oos_in_queue = 0;            ///< OMPI_SPC_OOS_IN_QUEUE
  std::int64_t oos_in_queue_max = 0;        ///< OMPI_SPC_MAX_OOS_IN_QUEUE
  std::int64_t unexpected = 0;              ///< OMPI_SPC_UNEXPECTED
  std::int64_t unexpected_in_queue = 0;     ///< OMPI_SPC_UNEXPECTED_IN_QUEUE
  std::int64_t unexpected_in_queue_max = 0; ///< OMPI_SPC_MAX_UNEXPECTED_IN_QUEUE
  Duration match_time{};          ///< OMPI_SPC_MATCH_TIME: searching the posted receives, without waiting for locks
  std::int64_t delayed_sends = 0; ///< sends that found the send queue full
  std::int64_t oos_ranges_visited = 0; ///< steps through ordered out-of-sequence lists

  std::int64_t puts = 0;             ///< OMPI_SPC_PUT
  std::int64_t gets = 0;             ///< OMPI_SPC_GET
  std::int64_t accumulates = 0;      ///< OMPI_SPC_ACCUMULATE
  std::int64_t fetch_and_ops = 0;    ///< OMPI_SPC_FETCH_AND_OP
  std::int64_t hardware_atomics = 0; ///< accumulates and fetch-and-ops that the interface carried out
  std::int64_t flushes = 0;          ///< flushes of one target, of all, or of buffers only
  std::int64_t one_sided_completed =
      0; ///< operations known to be complete, those of locks included; pieces, where messages carry them
  std::int64_t window_lock_retries = 0; ///< remote atomics that found a window or its accumulation locked
};

} // namespace contend
