// Prices of matching on one machine, and sizes of its designs.
#pragma once

#include "core/time.hpp"
#include "models/matching/envelope.hpp"

#include <cstdint>

namespace contend {

/// Prices of the elementary steps of matching on one machine.
struct MatchingParameters {
  Duration attempt{}; ///< fixed part of one search (function entry, queue heads)
  Duration element{}; ///< visiting one queue element that is in this core's cache
  /// The same where each element lies on a page of its own: no prefetcher follows, and the page has to be translated. Zero:
  /// as `element`.
  Duration distant_element{};
  std::int64_t element_bytes = 0; ///< cache footprint of one queue element
  Duration enqueue{};             ///< linking an element into a queue
  /// Cache lines under the matching lock that a search or a kept message changes, one after the other: queue heads, expected sequence
  /// numbers.
  int state_lines = 1;
  Duration
      fragment_allocate{}; ///< taking an out-of-sequence or unexpected fragment from its free list and copying the header
  Duration fragment_release{};     ///< giving it back
  Duration range{};                ///< visiting one range of an out-of-sequence list that is in this core's cache
  std::int64_t fragment_bytes = 0; ///< cache footprint of one fragment
  Duration hash{};            ///< bin of a (communicator, source, tag): hash function and the look at the bin's head
  Duration vector_step{};     ///< comparing one block of packed elements that is in this core's cache
  Duration offload_command{}; ///< CPU: telling the interface's matching unit to add or remove one receive
  Duration offload_latency{}; ///< interface: from a message's arrival to the end of its match, besides the walk
  Duration offload_element{}; ///< interface: visiting one receive in the matching unit's list

  /// What a message that goes into a queue takes besides `enqueue`: a fragment, unless it waits in one already.
  [[nodiscard]] Duration fragment_for(const Envelope& envelope) const {
    return envelope.kept ? Duration{} : fragment_allocate;
  }
};

/// Sizes that belong to a design rather than to a machine. Every engine reads those that concern it.
struct MatchingSizes {
  int bins = 256;              ///< hash-bins: bins per domain
  int vector_width = 8;        ///< vector: elements per block
  int offload_capacity = 1024; ///< offload: receives that the interface's list holds
};

/// From this distance on no two elements of a queue share a page of memory.
inline constexpr std::int64_t page_bytes = 4096;

/// The prices where elements of a queue lie `spacing` bytes apart in memory; 0: side by side.
[[nodiscard]] inline MatchingParameters spaced(MatchingParameters prices, std::int64_t spacing) {
  if (spacing >= page_bytes && prices.distant_element != Duration{}) {
    prices.element = prices.distant_element;
  }
  return prices;
}

} // namespace contend
