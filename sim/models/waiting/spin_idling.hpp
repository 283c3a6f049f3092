// The waiting thread reads the line of its sync object until somebody writes to it: no system calls, and its core is taken.
#pragma once

#include "models/waiting/idling.hpp"

#include <utility>

namespace contend {

class SpinIdling final : public Idling, private Waitable {
public:
  explicit SpinIdling(const IdlingParts& /*parts*/ = {}) {}

  void idle(SimThread& self, SyncObject& sync) override {
    self.settle();
    sync.line.load(self, Category::poll_idle);
    if (sync.idles()) { // no time has passed since the look
      sync.spinning = &self;
      self.wait(*this, Category::poll_idle);
    }
  }
  [[nodiscard]] bool idles(const SyncObject& sync) const override { return sync.spinning != nullptr; }
  void wake(SimThread& self, SyncObject& sync, Category category, bool told) override {
    if (told) {
      sync.line.store(self, category);
    }
    if (SimThread* const waiter = std::exchange(sync.spinning, nullptr); waiter != nullptr) {
      waiter->resume(); // it has lost its copy of the line, and reads it again
    }
  }

private:
  [[nodiscard]] std::string describe() const override { return "a write to its sync object"; }
};

} // namespace contend
