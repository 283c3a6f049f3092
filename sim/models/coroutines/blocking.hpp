// Blocking: who waits leaves the run queue until the event that it waits for puts it back.
#pragma once

#include "models/coroutines/scheduling_policy.hpp"

namespace contend {

class Blocking final : public SchedulingPolicy {
public:
  using SchedulingPolicy::SchedulingPolicy;

  bool waits(Schedulable& one) override {
    block(one);
    return false;
  }
  [[nodiscard]] bool blocks() const override { return true; }
};

} // namespace contend
