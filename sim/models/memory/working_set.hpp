// Working sets: what an access costs by how much else is touched before the same data is touched again.
#pragma once

#include "core/host.hpp"
#include "models/memory/parameters.hpp"

#include <cstdint>

namespace contend {

/// Accesses that come back to a piece of data after `distance` other bytes.
struct Reuse {
  double accesses = 0.0;     ///< per operation
  std::int64_t distance = 0; ///< bytes touched in between
};

/// The memory hierarchy as one core sees it while `sharers` busy cores share each last-level cache. A level of capacity C
/// serves the share C / d of accesses with reuse distance d above C: data is replaced at random (as in QueueWalk), which
/// makes prices rise smoothly where a working set outgrows a cache.
class WorkingSet {
public:
  WorkingSet(const CacheParameters& cache, const MemoryParameters& memory, int sharers);

  /// What an access costs on top of an L1 hit. Nothing overlaps.
  [[nodiscard]] Duration beyond_l1(std::int64_t distance) const;
  /// The same on top of an L2 hit: for lines that are known to have left L1 in any case.
  [[nodiscard]] Duration beyond_l2(std::int64_t distance) const;
  /// What coming back to a line costs on top of an L1 hit after `lines` others at equal distances of `stride` bytes, such as
  /// the column of a matrix. Lines at such distances meet in few sets of a cache: more of them than these sets hold, used in
  /// the same order again and again, all miss.
  [[nodiscard]] Duration beyond_l1_strided(std::int64_t lines, std::int64_t stride) const;
  /// What translating an address costs where that many bytes of pages are in use.
  [[nodiscard]] Duration beyond_tlb(std::int64_t bytes) const;
  /// What computation waits for of a cost of memory.
  [[nodiscard]] Duration exposed(double accesses, Duration cost) const;
  /// What `operations` that make such accesses wait for memory: MemoryParameters::exposed of what the accesses cost.
  [[nodiscard]] Duration stall(double operations, Reuse reuse) const;
  /// What going through `bytes` in order adds to computing with them, when they come again after `distance` bytes. The
  /// hardware fetches ahead: bandwidth counts, not latency.
  [[nodiscard]] Duration stream(double bytes, std::int64_t distance) const;
  /// Copying `bytes` among data of which `footprint` bytes are in use.
  [[nodiscard]] Duration copy(std::int64_t bytes, std::int64_t footprint) const;
  /// Copying from one buffer of a message to another: both are in use.
  [[nodiscard]] Duration copy(std::int64_t bytes) const { return copy(bytes, 2 * bytes); }

private:
  [[nodiscard]] double beyond_l1_ps(std::int64_t distance) const;
  [[nodiscard]] double beyond_l2_ps(std::int64_t distance) const;
  [[nodiscard]] double beyond_tlb_ps(std::int64_t bytes) const;

  CacheParameters cache_;
  MemoryParameters memory_;
  std::int64_t l3_share_;
  double far_rate_; ///< of one core that only reads, bytes per second
};

} // namespace contend
