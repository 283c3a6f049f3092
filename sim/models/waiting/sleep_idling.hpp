// The waiting thread sleeps on the condition variable of its sync object, and leaves its core to others.
#pragma once

#include "models/waiting/idling.hpp"

namespace contend {

class SleepIdling final : public Idling {
public:
  explicit SleepIdling(const IdlingParts& /*parts*/ = {}) {}

  void idle(SimThread& self, SyncObject& sync) override {
    sync.condition.wait(self, Category::blocked, [&] { return sync.idles(); });
  }
  [[nodiscard]] bool idles(const SyncObject& sync) const override { return sync.condition.sleepers() > 0; }
  void wake(SimThread& self, SyncObject& sync, Category category, bool /*told*/) override {
    sync.condition.wake(self, 1, category);
  }
};

} // namespace contend
