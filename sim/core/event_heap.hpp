// A 4-ary min-heap of event keys.
#pragma once

#include "core/event_key.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

namespace contend {

class EventHeap {
public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }

  void push(const EventKey& key) {
    if (size_ == capacity_) {
      reserve(std::max<std::size_t>(64, capacity_ * 2));
    }
    sift_up(size_++, key);
  }

  /// Takes the earliest entry. Requires: !empty().
  EventKey take() {
    const EventKey first = heap_[0];
    if (--size_ > 0) {
      const EventKey last = heap_[size_];
      sift_down(0, last);
    }
    return first;
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
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

} // namespace contend
