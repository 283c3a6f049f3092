// The list of sends that found no room, in the order in which they are tried again.
#pragma once

#include "core/ring_queue.hpp"
#include "models/matching/envelope.hpp"
#include "mpi/request.hpp"

#include <cstddef>
#include <deque>
#include <vector>

namespace contend {

/// A message that its connection had no room for.
struct DelayedSend {
  int instance = 0;
  int destination = 0;
  Envelope envelope;
  Request* request = nullptr; ///< complete once the message is out

  [[nodiscard]] bool same_connection(const DelayedSend& other) const {
    return instance == other.instance && destination == other.destination;
  }
};

/// A list that can be turned round at once: libraries that put a failing send in front of those that failed before it
/// reverse thousands of them in every turn of progress.
class DelayedSends {
public:
  [[nodiscard]] bool empty() const { return order_.empty(); }
  [[nodiscard]] std::size_t size() const { return order_.size(); }

  /// Requires: position < size(). Valid until that send is erased.
  [[nodiscard]] const DelayedSend& operator[](std::size_t position) const { return *order_[index(position)]; }

  void push_back(const DelayedSend& send) {
    DelayedSend* entry = nullptr;
    if (free_.empty()) {
      entry = &entries_.emplace_back(send);
    } else {
      entry = free_.back();
      free_.pop_back();
      *entry = send;
    }
    if (!empty() && !entry->same_connection((*this)[size() - 1])) {
      ++changes_;
    }
    if (reversed_) {
      order_.push_front(entry);
    } else {
      order_.push_back(entry);
    }
  }

  /// Requires: position < size(). Cheap near both ends.
  void erase(std::size_t position) {
    const bool inside = position > 0 && position + 1 < size();
    changes_ -= changes_at(position) + changes_at(position + 1);
    changes_ += inside && !(*this)[position - 1].same_connection((*this)[position + 1]) ? 1 : 0;
    const std::size_t place = index(position);
    free_.push_back(order_[place]);
    order_.erase(place);
  }

  /// The last becomes the first.
  void reverse() { reversed_ = !reversed_; }

  /// First position from `begin` on that waits for another connection than the send at `begin`; size() if there is none.
  [[nodiscard]] std::size_t end_of_connection(std::size_t begin) const {
    if (changes_ == 0) {
      return size();
    }
    std::size_t end = begin + 1;
    while (end < size() && (*this)[end].same_connection((*this)[begin])) {
      ++end;
    }
    return end;
  }

private:
  /// 1 if the sends before and at `position` wait for different connections.
  [[nodiscard]] std::size_t changes_at(std::size_t position) const {
    return position > 0 && position < size() && !(*this)[position].same_connection((*this)[position - 1]) ? 1 : 0;
  }
  [[nodiscard]] std::size_t index(std::size_t position) const {
    return reversed_ ? order_.size() - 1 - position : position;
  }

  RingQueue<DelayedSend*> order_;
  bool reversed_ = false;   ///< order_ is to be read from its end
  std::size_t changes_ = 0; ///< neighbours that wait for different connections: usually none, with one instance
  std::deque<DelayedSend> entries_;
  std::vector<DelayedSend*> free_;
};

} // namespace contend
