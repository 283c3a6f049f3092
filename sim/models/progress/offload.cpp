#include "models/progress/offload.hpp"

#include <utility>

namespace contend {

void OffloadProgress::wait(SimThread& self, SyncObject& sync) {
  const WaitScope scope(self, label_);
  for (;;) {
    sync.line.load(self, Category::poll_idle);
    if (sync.pending <= 0) {
      return;
    }
    sync.spinning = &self;
    self.wait(*this, Category::poll_idle);
  }
}

/// The spinning thread has lost its copy of the line and reads it again.
void OffloadProgress::written(SyncObject& sync) {
  if (SimThread* const waiter = std::exchange(sync.spinning, nullptr); waiter != nullptr) {
    waiter->resume();
  }
}

void OffloadProgress::run_thread(SimThread& self) {
  bool idle = false;
  for (;;) {
    if (idle && source_.rest(self, ProgressSource::no_limit).look_again()) {
      idle = false;
      continue;
    }
    source_.begin_turn(self, ProgressSource::Noise::never);
    int found = source_.take_commands(self);
    for (int target = 0; target < source_.targets(); ++target) {
      found += source_.poll(self, target, ProgressSource::IfHeld::skip);
    }
    idle = found + source_.end_turn(self) == 0;
  }
}

} // namespace contend
