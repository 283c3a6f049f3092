#include "models/progress/wait_ring.hpp"

#include <algorithm>
#include <string>

namespace contend {

WaitRing::WaitRing(const ProgressParts& parts, int limit)
    : source_(parts.source), idling_(parts.idling != nullptr ? *parts.idling : sleep_), limit_(limit),
      lock_(parts.make_lock(std::string(parts.name) + "/wait ring")) {}

void WaitRing::enter(SimThread& self, SyncObject& sync) {
  sync.promoted = false;
  lock_->lock(self);
  ring_.push_back(&sync);
  const bool may_progress = ring_.front() == &sync || in_progress_ < limit_;
  if (may_progress) {
    sync.promoted = true;
    join();
  }
  lock_->unlock(self);

  while (sync.idles()) {
    idling_.idle(self, sync);
  }
}

void WaitRing::join() {
  if (++in_progress_ > 1) {
    source_.end_rests(); // a thread that was alone has company
  }
}

void WaitRing::leave(SimThread& self, SyncObject& sync) {
  lock_->lock(self);
  const bool was_head = ring_.front() == &sync;
  ring_.erase(std::find(ring_.begin(), ring_.end(), &sync));
  in_progress_ -= sync.promoted ? 1 : 0;
  SyncObject* const head = was_head && !ring_.empty() ? ring_.front() : nullptr;
  if (head != nullptr && !head->promoted) {
    head->promoted = true;
    join();
    idling_.wake(self, *head, Category::lock_wait, true);
  }
  lock_->unlock(self);
}

void WaitRing::completed(SimThread& self, SyncObject& sync) {
  if (idling_.idles(sync)) {
    idling_.wake(self, sync, Category::completion, false);
  } else {
    source_.end_rest_of(sync);
  }
}

} // namespace contend
