// Who of the coroutines of one OS process runs next. Nothing is preempted: a coroutine gives control up inside MPI calls.
#pragma once

#include "models/coroutines/run_queue.hpp"
#include "models/registry.hpp"

#include <memory>

namespace contend {

class SchedulingPolicy {
public:
  /// Where a coroutine that was blocked joins the run queue.
  enum class Wake { head, tail };

  explicit SchedulingPolicy(Wake wake) : wake_(wake) {}
  virtual ~SchedulingPolicy() = default;
  SchedulingPolicy(const SchedulingPolicy&) = delete;
  SchedulingPolicy& operator=(const SchedulingPolicy&) = delete;

  /// `one` gives control up, but has something to do.
  void yielded(Schedulable& one) { queue_.push_tail(one); }
  /// `one` gives control up until something happens. Returns whether it stays on the run queue, to look for itself.
  virtual bool waits(Schedulable& one) = 0;
  /// What `one` waits for has happened. No effect on those that are not blocked.
  void notify(Schedulable& one) {
    if (one.blocked_) {
      one.blocked_ = false;
      wake_ == Wake::head ? queue_.push_head(one) : queue_.push_tail(one);
    }
  }
  /// Whether waiting coroutines are blocked, so that somebody else has to make progress when all of them are.
  [[nodiscard]] virtual bool blocks() const = 0;

  [[nodiscard]] RunQueue& queue() { return queue_; }

protected:
  static void block(Schedulable& one) { one.blocked_ = true; }

private:
  Wake wake_;
  RunQueue queue_;
};

using SchedulingPolicyFactory = std::unique_ptr<SchedulingPolicy> (*)(SchedulingPolicy::Wake wake);

/// All policies by name.
Registry<SchedulingPolicyFactory>& scheduling_policy_registry();

template <typename Kind>
std::unique_ptr<SchedulingPolicy> make_scheduling_policy(SchedulingPolicy::Wake wake) {
  return std::make_unique<Kind>(wake);
}

} // namespace contend
