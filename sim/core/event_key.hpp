// One entry of the future event list.
#pragma once

#include "core/time.hpp"

#include <cstdint>

namespace contend {

/// Number of an event target in the engine's table.
using TargetSlot = std::uint32_t;

/// When, in which order of insertion, and for whom, in 16 bytes that compare as one 128-bit number.
class EventKey {
public:
  static constexpr int slot_bits = 24; ///< up to 16.7 million targets
  static constexpr TargetSlot max_slot = (TargetSlot{1} << slot_bits) - 1;
  static constexpr std::uint64_t max_sequence = ~std::uint64_t{0} >> slot_bits; ///< 1.1e12 insertions in a run

  EventKey() = default;
  EventKey(TimePoint time, std::uint64_t sequence, TargetSlot slot)
      : time_(static_cast<std::uint64_t>(time.since_start().count())), order_(sequence << slot_bits | slot) {}

  /// What no entry of a queue comes after.
  static EventKey after_all() {
    EventKey key(TimePoint::never(), 0, 0);
    key.order_ = ~std::uint64_t{0};
    return key;
  }

  [[nodiscard]] TimePoint time() const {
    return TimePoint::at(Duration::picoseconds(static_cast<std::int64_t>(time_)));
  }
  [[nodiscard]] TargetSlot slot() const { return static_cast<TargetSlot>(order_) & max_slot; }

  /// Branch-free: comparisons of dates are unpredictable, and mispredictions are what limits a queue.
  friend bool operator<(const EventKey& a, const EventKey& b) { return a.wide() < b.wide(); }

private:
  __extension__ using Wide = unsigned __int128;
  [[nodiscard]] Wide wide() const { return static_cast<Wide>(time_) << 64 | order_; }

  std::uint64_t time_ = 0;
  std::uint64_t order_ = 0;
};

} // namespace contend
