// A queue that allocates only when it is longer than ever before.
#pragma once

#include <boost/circular_buffer.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace contend {

/// First in, first out, in one array that doubles when it is full: std::deque frees and allocates blocks as its ends move
/// on. References and iterators are valid until the next push.
template <typename T>
class RingQueue {
public:
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] T& front() { return items_.front(); }
  [[nodiscard]] const T& front() const { return items_.front(); }
  [[nodiscard]] T& back() { return items_.back(); }
  [[nodiscard]] const T& back() const { return items_.back(); }
  /// Requires: place < size().
  [[nodiscard]] const T& operator[](std::size_t place) const { return items_[place]; }
  [[nodiscard]] auto begin() { return items_.begin(); }
  [[nodiscard]] auto end() { return items_.end(); }
  [[nodiscard]] auto begin() const { return items_.begin(); }
  [[nodiscard]] auto end() const { return items_.end(); }

  void push_back(T item) {
    make_room();
    items_.push_back(std::move(item));
  }
  void push_front(T item) {
    make_room();
    items_.push_front(std::move(item));
  }
  void pop_front() { items_.pop_front(); }
  /// Takes one out and closes the gap, from the nearer end. Requires: place < size().
  void erase(std::size_t place) {
    const auto at = items_.begin() + static_cast<std::ptrdiff_t>(place);
    if (place < size() / 2) {
      items_.rerase(at);
    } else {
      items_.erase(at);
    }
  }

private:
  static constexpr std::size_t first_capacity = 8;

  void make_room() {
    if (items_.full()) [[unlikely]] {
      items_.set_capacity(std::max(first_capacity, 2 * items_.capacity()));
    }
  }

  boost::circular_buffer<T> items_;
};

} // namespace contend
