// A core that several OS processes use in turns.
#pragma once

#include "core/engine.hpp"
#include "core/ring_queue.hpp"
#include "core/wait_scope.hpp"

#include <string>

namespace contend {

/// Time sharing at the points where an OS process has nothing to do: it leaves the core to the next one that has, which
/// costs the switch of the operating system. Nobody is preempted, and who polls in vain takes no time from others: the
/// least that oversubscription costs.
class CoreShare final : public Waitable {
public:
  CoreShare(Duration os_switch, std::string name) : switch_(os_switch), label_(std::move(name)) {}

  /// Adds a user; before the first turn.
  void join() { ++users_; }

  /// Whether there are others to leave the core to.
  [[nodiscard]] bool shared() const { return users_ > 1; }

  /// Takes the core.
  void acquire(SimThread& self) {
    if (users_ < 2) {
      return;
    }
    self.settle();
    if (holder_ != nullptr) {
      const WaitScope scope(self, label_);
      waiting_.push_back(&self);
      self.wait(*this, Category::blocked);
    }
    holder_ = &self;
    if (last_ != &self) {
      last_ = &self;
      ++switches_;
      self.spend(switch_, Category::software);
    }
  }
  /// Leaves it.
  void release(SimThread& self) {
    if (users_ < 2) {
      return;
    }
    self.settle();
    holder_ = nullptr;
    if (!waiting_.empty()) {
      holder_ = waiting_.front();
      waiting_.pop_front();
      WaitScope::answer(label_, holder_->id(), self, "left the core", self.now());
      holder_->resume();
    }
  }

  [[nodiscard]] std::int64_t switches() const { return switches_; }
  [[nodiscard]] std::string describe() const override { return label_.name; }

private:
  Duration switch_;
  TraceLabel label_;
  int users_ = 0;
  SimThread* holder_ = nullptr;
  SimThread* last_ = nullptr;
  RingQueue<SimThread*> waiting_;
  std::int64_t switches_ = 0;
};

} // namespace contend
