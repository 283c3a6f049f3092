// Descriptors of large one-sided operations whose wires are shared as flows: the interface works on one of a context at a
// time, in order.
#pragma once

#include "core/ring_queue.hpp"
#include "core/time.hpp"

#include <cstddef>

namespace contend {

/// Work on one descriptor.
class Offload {
public:
  virtual ~Offload() = default;
  /// It is the descriptor's turn; the interface may begin it at `earliest`.
  virtual void begin(TimePoint earliest) = 0;
};

class OffloadQueue {
public:
  void push(Offload& offload) {
    waiting_.push_back(&offload);
    if (waiting_.size() == 1) {
      offload.begin(next_);
    }
  }
  /// The first one is done; the next may begin at `next`.
  void pop(TimePoint next) {
    next_ = next;
    waiting_.pop_front();
    if (!waiting_.empty()) {
      waiting_.front()->begin(next_);
    }
  }

private:
  RingQueue<Offload*> waiting_; ///< and the one in work, first
  TimePoint next_;
};

} // namespace contend
