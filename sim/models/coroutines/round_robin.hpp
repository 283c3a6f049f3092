// Round robin: nobody is ever blocked; who waits is switched to in every round, looks, and gives control up again.
#pragma once

#include "models/coroutines/scheduling_policy.hpp"

namespace contend {

class RoundRobin final : public SchedulingPolicy {
public:
  using SchedulingPolicy::SchedulingPolicy;

  bool waits(Schedulable& one) override {
    yielded(one);
    return true;
  }
  [[nodiscard]] bool blocks() const override { return false; }
};

} // namespace contend
