// What copying costs, by where the data is.
#pragma once

#include "core/time.hpp"

#include <cstdint>

namespace contend {

/// What copying and computing cost by where the data is. Sizes and latencies of L2 and the shared cache: CacheParameters.
/// A rate of 0 means that the machine's profile says nothing about it.
struct MemoryParameters {
  std::int64_t l1_bytes = 0;            ///< first-level data cache of one core
  int ways = 0;                         ///< associativity of L1 and L2; 0: any line fits anywhere
  std::int64_t l3_bytes = 0;            ///< last-level cache of one socket, which its busy cores share
  Duration latency{};                   ///< dependent load that misses all caches
  Duration copy_start{};                ///< a copy besides its bytes: the call, and the first lines of a cold source
  double copy_bytes_per_second = 0;     ///< copying what fits into L2, source and destination together
  double copy_l3_bytes_per_second = 0;  ///< copying what fits into the last-level cache only
  double copy_far_bytes_per_second = 0; ///< copying from memory to memory
  double socket_bytes_per_second = 0;   ///< what the memory of one socket delivers to all its cores together
  double exposed = 1.0;       ///< share of a miss that computation waits for; the rest overlaps with other work
  std::int64_t tlb_bytes = 0; ///< memory that the second-level translation buffer covers
  Duration tlb_miss{};        ///< walking the page table, its entries being in the caches
};

} // namespace contend
