// A mutex without a price, granted in order of arrival by direct hand-over: a synchronisation primitive for building
// models and for queueing-theory tests. What real locks cost is in models/locks/.
#pragma once

#include "core/engine.hpp"
#include "core/ring_queue.hpp"

#include <string>
#include <utility>

namespace contend {

class FifoMutex final : public Waitable {
public:
  explicit FifoMutex(std::string name) : name_(std::move(name)) {}

  void lock(SimThread& self, Category category = Category::lock_wait) {
    if (holder_ == nullptr) {
      holder_ = &self;
      return;
    }
    waiting_.push_back(&self);
    self.wait(*this, category, Waiting::asleep);
  }

  /// Requires: `self` holds the mutex.
  void unlock(SimThread& self) {
    if (holder_ != &self) {
      throw InvariantViolation("'" + name_ + "' is unlocked by " + self.name() + ", which does not hold it");
    }
    if (waiting_.empty()) {
      holder_ = nullptr;
      return;
    }
    holder_ = waiting_.front();
    waiting_.pop_front();
    holder_->resume();
  }

  [[nodiscard]] const SimThread* holder() const { return holder_; }
  [[nodiscard]] std::string describe() const override {
    return "mutex '" + name_ + "' held by " + (holder_ == nullptr ? "nobody" : holder_->name());
  }

private:
  std::string name_;
  SimThread* holder_ = nullptr;
  RingQueue<SimThread*> waiting_;
};

} // namespace contend
