// A queue that allocates only when it is longer than ever before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace contend {

/// First in, first out, in one array that doubles when it is full: std::deque frees and allocates blocks as its ends move
/// on. What has been taken out stays in its slot until another one comes there, so items are plain data. References are
/// valid until the next push.
template <typename T>
class RingQueue {
public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Requires: not empty().
  [[nodiscard]] T& front() { return slots_[first_]; }
  [[nodiscard]] const T& front() const { return slots_[first_]; }
  /// Requires: place < size(); the front has place 0.
  [[nodiscard]] T& operator[](std::size_t place) { return slots_[slot(place)]; }
  [[nodiscard]] const T& operator[](std::size_t place) const { return slots_[slot(place)]; }
  /// Place of the first one that is equal; size() if there is none.
  [[nodiscard]] std::size_t find(const T& item) const {
    std::size_t place = 0;
    while (place < size_ && !((*this)[place] == item)) {
      ++place;
    }
    return place;
  }

  void push_back(T item) {
    make_room();
    slots_[slot(size_)] = std::move(item);
    ++size_;
  }
  void push_front(T item) {
    make_room();
    first_ = slot(slots_.size() - 1);
    slots_[first_] = std::move(item);
    ++size_;
  }
  /// Requires: not empty().
  void pop_front() {
    first_ = slot(1);
    --size_;
  }
  /// Takes one out and closes the gap, from the nearer end. Requires: place < size().
  void erase(std::size_t place) {
    if (place < size_ / 2) {
      for (; place > 0; --place) {
        (*this)[place] = std::move((*this)[place - 1]);
      }
      pop_front();
    } else {
      for (; place + 1 < size_; ++place) {
        (*this)[place] = std::move((*this)[place + 1]);
      }
      --size_;
    }
  }

private:
  static constexpr std::size_t first_capacity = 8; ///< a power of two, as all later ones

  [[nodiscard]] std::size_t slot(std::size_t place) const { return (first_ + place) & (slots_.size() - 1); }

  void make_room() {
    if (size_ == slots_.size()) [[unlikely]] {
      grow();
    }
  }
  [[gnu::noinline]] void grow() {
    std::vector<T> larger(std::max(first_capacity, 2 * slots_.size()));
    for (std::size_t place = 0; place < size_; ++place) {
      larger[place] = std::move((*this)[place]);
    }
    slots_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> slots_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

} // namespace contend
