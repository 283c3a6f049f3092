// The future event list: what is due next stands in order, the rest in a heap.
#pragma once

#include "core/event_heap.hpp"
#include "core/event_key.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace contend {

/// A model schedules most of its events soon: a short sorted array takes them after a few comparisons, tells at once what
/// comes next, and gives it away without a search. What comes later than all of it waits in a heap until the array has run
/// empty.
class EventQueue {
public:
  EventQueue() { near_[0] = EventKey::after_all(); }

  [[nodiscard]] bool empty() const { return near_end_ == first; }
  [[nodiscard]] std::size_t size() const { return near_end_ - first + far_.size(); }

  /// When the earliest entry is due; TimePoint::never() or later if there is none.
  [[nodiscard]] TimePoint next_time() const { return near_[near_end_ - 1].time(); }

  void push(const EventKey& key) {
    if (near_end_ == near_.size()) [[unlikely]] {
      spill();
    }
    if (!far_.empty() && !(key < near_[first])) [[unlikely]] {
      push_far(key);
      return;
    }
    std::size_t place = near_end_++;
    for (; near_[place - 1] < key; --place) {
      near_[place] = near_[place - 1];
    }
    near_[place] = key;
  }

  /// The earliest entry. Requires: !empty().
  [[nodiscard]] const EventKey& next() const { return near_[near_end_ - 1]; }
  /// Removes it.
  void drop() {
    if (--near_end_ == first && !far_.empty()) [[unlikely]] {
      refill();
    }
  }

  /// Takes the earliest entry. Requires: !empty().
  EventKey take() {
    const EventKey earliest = next();
    drop();
    return earliest;
  }

private:
  static constexpr std::size_t near_capacity = 48;
  static constexpr std::size_t first = 1; ///< of near_

  // What follows is rare, and must not stand between the instructions that are not: every place that stops a thread has
  // a copy of push() and drop().
  [[gnu::noinline]] void push_far(const EventKey& key) { far_.push(key); }

  /// The later half goes to the heap.
  [[gnu::noinline]] void spill() {
    constexpr std::size_t half = near_capacity / 2;
    for (std::size_t i = half; i-- > 0;) {
      far_.push(near_[first + i]);
    }
    std::copy(near_.begin() + first + half, near_.end(), near_.begin() + first);
    near_end_ -= half;
  }

  [[gnu::noinline]] void refill() {
    near_end_ = first + std::min(far_.size(), near_capacity / 2);
    for (std::size_t i = near_end_; i-- > first;) {
      near_[i] = far_.take();
    }
  }

  std::size_t near_end_ = first;
  /// Latest first; none of them after one of far_. In front of them one that is never due ends every search.
  std::array<EventKey, first + near_capacity> near_;
  EventHeap far_;
};

} // namespace contend
