// Prices of one-sided operations in a network interface.
#pragma once

#include "core/time.hpp"

#include <cstdint>

namespace contend {

/// Remote direct memory access of a network interface. There are two ways to hand over an operation: the processor stores
/// it into the interface, payload included (Aries FMA, InfiniBand inline), or it posts a descriptor and the interface moves
/// the data (Aries BTE, InfiniBand zero copy). Interfaces differ by these values only.
struct RdmaParameters {
  std::int64_t store_limit_bytes = 0;  ///< largest operation that goes the first way
  Duration store_post{};               ///< CPU: an operation without its payload, doorbell included
  double store_bytes_per_second = 1e9; ///< CPU: writing the payload of a put into the interface
  Duration store_start{};              ///< NIC: from the end of the post to the first byte on the wire
  Duration offload_post{};             ///< CPU: a descriptor, doorbell included
  Duration offload_start{};   ///< NIC: from the end of the post to the first byte on the wire, reading included
  Duration offload_gap{};     ///< NIC: from the last byte of a descriptor to the next operation of the context
  Duration read_response{};   ///< NIC at the target: from a get's request to the first byte of the response
  Duration atomic_response{}; ///< NIC at the target: from the start of an atomic to the first byte of its response
  Duration atomic_gap{};      ///< NIC at the target: least time between two atomics of the whole interface
  std::int64_t atomic_limit_bytes = 0; ///< largest operand of a hardware atomic; 0: there are none
  std::int64_t header_bytes = 0;       ///< on the wire in front of every request and response
  int read_depth = 1;                  ///< gets and atomics that one endpoint may have outstanding
  int completion_batch = 1;            ///< the interface reports every n-th completion of an endpoint
  Duration completion{};               ///< CPU: take one entry out of the completion queue
  // What threads that share a context take from each other, besides its lock; lines that are waited for one after the other.
  int post_lines = 1;       ///< of the context, changed by every post: its counters and the heads of its lists
  int descriptor_lines = 1; ///< of an operation, changed when it is posted and when it is retired
};

} // namespace contend
