#include "models/progress/ownership.hpp"

#include <algorithm>
#include <string>

namespace contend {

OwnershipProgress::OwnershipProgress(const ProgressParts& parts)
    : source_(parts.source), ring_lock_(parts.make_lock(std::string(parts.name) + "/wait ring")) {}

void OwnershipProgress::wait(SimThread& self, SyncObject& sync) {
  if (sync.pending == 0) {
    return;
  }
  sync.promoted = false;
  ring_lock_->lock(self);
  ring_.push_back(&sync);
  const bool first = ring_.front() == &sync;
  ring_lock_->unlock(self);

  if (!first) {
    while (sync.pending > 0 && !sync.promoted) {
      sync.condition.wait(self, Category::blocked, [&] { return sync.pending > 0 && !sync.promoted; });
    }
  }
  if (sync.pending > 0) {
    own(self, sync);
  }

  ring_lock_->lock(self);
  const bool was_owner = ring_.front() == &sync;
  ring_.erase(std::find(ring_.begin(), ring_.end(), &sync));
  SyncObject* const successor = was_owner && !ring_.empty() ? ring_.front() : nullptr;
  if (successor != nullptr) {
    successor->promoted = true;
    successor->condition.wake(self, 1, Category::lock_wait);
  }
  ring_lock_->unlock(self);
}

void OwnershipProgress::own(SimThread& self, SyncObject& sync) {
  bool idle = false;
  while (sync.pending > 0) {
    idle = (idle ? source_.progress_after_idle(self) : source_.progress(self)) == 0;
  }
}

void OwnershipProgress::completed(SimThread& self, SyncObject& sync) {
  if (sync.condition.sleepers() > 0) {
    sync.condition.wake(self, 1, Category::completion);
  }
}

} // namespace contend
