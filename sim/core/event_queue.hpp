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
  [[nodiscard]] bool empty() const { return near_size_ == 0; }
  [[nodiscard]] std::size_t size() const { return near_size_ + far_.size(); }

  /// Earliest entry. Requires: !empty().
  [[nodiscard]] const EventKey& next() const { return near_[near_size_ - 1]; }

  void push(const EventKey& key) {
    if (near_size_ == near_.size()) [[unlikely]] {
      spill();
    }
    if (!far_.empty() && !(key < near_.front())) {
      far_.push(key);
      return;
    }
    std::size_t place = near_size_++;
    for (; place > 0 && near_[place - 1] < key; --place) {
      near_[place] = near_[place - 1];
    }
    near_[place] = key;
  }

  /// Takes the earliest entry. Requires: !empty().
  EventKey take() {
    const EventKey first = near_[--near_size_];
    if (near_size_ == 0 && !far_.empty()) [[unlikely]] {
      refill();
    }
    return first;
  }

private:
  static constexpr std::size_t near_capacity = 48;

  /// The later half goes to the heap.
  void spill() {
    constexpr std::size_t half = near_capacity / 2;
    for (std::size_t i = half; i-- > 0;) {
      far_.push(near_[i]);
    }
    std::copy(near_.begin() + half, near_.end(), near_.begin());
    near_size_ -= half;
  }

  void refill() {
    near_size_ = std::min(far_.size(), near_capacity / 2);
    for (std::size_t i = near_size_; i-- > 0;) {
      near_[i] = far_.take();
    }
  }

  std::size_t near_size_ = 0;
  std::array<EventKey, near_capacity> near_; ///< latest first; none of them after one of far_
  EventHeap far_;
};

} // namespace contend
