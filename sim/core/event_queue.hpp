// The future event list: a 4-ary heap of 16-byte entries ordered by (time, insertion).
#pragma once

#include "core/time.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace contend {

/// Number of an event target in the engine's table.
using TargetSlot = std::uint32_t;

/// One entry: when, in which order of insertion, and for whom, in 16 bytes that compare as one 128-bit number.
class EventKey {
public:
  static constexpr int slot_bits = 24; ///< up to 16.7 million targets
  static constexpr TargetSlot max_slot = (TargetSlot{1} << slot_bits) - 1;
  static constexpr std::uint64_t max_sequence = ~std::uint64_t{0} >> slot_bits; ///< 1.1e12 insertions in a run

  EventKey() = default;
  EventKey(TimePoint time, std::uint64_t sequence, TargetSlot slot)
      : time_(static_cast<std::uint64_t>(time.since_start().count())), order_(sequence << slot_bits | slot) {}

  [[nodiscard]] TimePoint time() const {
    return TimePoint::at(Duration::picoseconds(static_cast<std::int64_t>(time_)));
  }
  [[nodiscard]] TargetSlot slot() const { return static_cast<TargetSlot>(order_) & max_slot; }

  /// Branch-free: heap comparisons are unpredictable, and mispredictions are what limits a heap.
  friend bool operator<(const EventKey& a, const EventKey& b) { return a.wide() < b.wide(); }

private:
  __extension__ using Wide = unsigned __int128;
  [[nodiscard]] Wide wide() const { return static_cast<Wide>(time_) << 64 | order_; }

  std::uint64_t time_ = 0;
  std::uint64_t order_ = 0;
};

/// Min-heap with a vacancy: the entry that is being dispatched stays at the root until it is known whether its target
/// schedules again. It usually does, and then one replacement takes the place of a removal and an insertion.
class EventQueue {
public:
  EventQueue() { reserve(64); }

  [[nodiscard]] bool empty() const { return size_ == (vacant_ ? 1U : 0U); }
  [[nodiscard]] std::size_t size() const { return size_ - (vacant_ ? 1U : 0U); }

  /// Earliest entry that is not being dispatched. Requires: !empty().
  [[nodiscard]] const EventKey& next() const { return vacant_ ? heap_[smallest_child(0)] : heap_[0]; }

  void push(const EventKey& key) {
    if (vacant_) {
      vacant_ = false;
      sift_down(0, key);
      return;
    }
    if (size_ == capacity_) {
      reserve(capacity_ * 2);
    }
    sift_up(size_++, key);
  }

  /// Inserts `key` unless it precedes everything in the queue; returns whether it was inserted. One search of the root's
  /// children serves both the question and the insertion.
  bool push_unless_first(const EventKey& key) {
    if (!vacant_) {
      if (size_ == 0 || key < heap_[0]) {
        return false;
      }
      push(key);
      return true;
    }
    if (size_ == 1) {
      return false;
    }
    const std::size_t first = smallest_child(0);
    if (key < heap_[first]) {
      return false;
    }
    vacant_ = false;
    heap_[0] = heap_[first];
    sift_down(first, key);
    return true;
  }

  /// Takes the earliest entry; its place stays vacant until the next push or take. Requires: !empty().
  EventKey take() {
    close_vacancy();
    vacant_ = true;
    return heap_[0];
  }

private:
  static constexpr std::size_t arity = 4;
  static constexpr std::size_t cache_line = 64;
  /// Children of a node fill exactly one cache line when the root sits in the last quarter of a line.
  static constexpr std::size_t lead = cache_line / sizeof(EventKey) - 1;

  struct Free {
    void operator()(EventKey* memory) const { std::free(memory); }
  };

  void reserve(std::size_t capacity) {
    const std::size_t bytes = ((capacity + lead) * sizeof(EventKey) + cache_line - 1) / cache_line * cache_line;
    auto* memory = static_cast<EventKey*>(std::aligned_alloc(cache_line, bytes));
    if (memory == nullptr) {
      throw std::bad_alloc();
    }
    std::uninitialized_default_construct_n(memory, capacity + lead);
    std::copy(heap_, heap_ + size_, memory + lead);
    memory_.reset(memory);
    heap_ = memory + lead;
    capacity_ = capacity;
  }

  void close_vacancy() {
    if (vacant_) {
      vacant_ = false;
      if (--size_ > 0) {
        const EventKey last = heap_[size_];
        sift_down(0, last);
      }
    }
  }

  [[nodiscard]] std::size_t smallest_child(std::size_t parent) const {
    const std::size_t first = arity * parent + 1;
    std::size_t best = first;
    if (first + arity <= size_) {
      const std::size_t left = first + (heap_[first + 1] < heap_[first] ? 1U : 0U);
      const std::size_t right = first + 2 + (heap_[first + 3] < heap_[first + 2] ? 1U : 0U);
      best = heap_[right] < heap_[left] ? right : left;
    } else {
      for (std::size_t child = first + 1; child < size_; ++child) {
        best = heap_[child] < heap_[best] ? child : best;
      }
    }
    return best;
  }

  void sift_down(std::size_t hole, const EventKey& key) {
    while (arity * hole + 1 < size_) {
      const std::size_t child = smallest_child(hole);
      if (!(heap_[child] < key)) {
        break;
      }
      heap_[hole] = heap_[child];
      hole = child;
    }
    heap_[hole] = key;
  }

  void sift_up(std::size_t hole, const EventKey& key) {
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / arity;
      if (!(key < heap_[parent])) {
        break;
      }
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = key;
  }

  std::unique_ptr<EventKey, Free> memory_; ///< room for lead + capacity_ entries
  EventKey* heap_ = nullptr;
  std::size_t size_ = 0; ///< including the vacant root
  std::size_t capacity_ = 0;
  bool vacant_ = false;
};

} // namespace contend
