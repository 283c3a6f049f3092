#pragma once

#include "core/time.hpp"

namespace contend {

/// Prices of the elementary steps of matching on one machine.
struct MatchingParameters {
  Duration attempt{};             ///< fixed part of one search (function entry, queue heads)
  Duration element{};             ///< visiting one queue element that is in this core's cache
  std::int64_t element_bytes = 0; ///< cache footprint of one queue element
  Duration enqueue{};             ///< linking an element into a queue
  Duration
      fragment_allocate{}; ///< taking an out-of-sequence or unexpected fragment from its free list and copying the header
  Duration fragment_release{};     ///< giving it back
  Duration range{};                ///< visiting one range of an out-of-sequence list that is in this core's cache
  std::int64_t fragment_bytes = 0; ///< cache footprint of one fragment
};

} // namespace contend
