#include "models/progress/wait_ring.hpp"

#include <string>

namespace contend {

WaitRing::WaitRing(const ProgressParts& parts, int limit)
    : source_(parts.source), idling_(parts.idling != nullptr ? *parts.idling : sleep_), limit_(limit),
      lenient_(parts.design.lenient_limit), lock_(parts.make_lock(std::string(parts.name) + "/wait ring")),
      label_(std::string(parts.name) + "/others' progress") {}

void WaitRing::enter(SimThread& self, SyncObject& sync) {
  sync.promoted = false;
  lock_->lock(self);
  ring_.push_back(&sync);
  if (ring_.front() == &sync || (!lenient_ && in_progress_ < limit_)) {
    promote(sync);
  }
  lock_->unlock(self);

  if (sync.idles()) {
    idle(self, sync);
  }
}

void WaitRing::idle(SimThread& self, SyncObject& sync) {
  const WaitScope scope(self, label_);
  while (sync.idles()) {
    if (lenient_ && in_progress_ < limit_) {
      promote(sync);
    } else {
      idling_.idle(self, sync);
    }
  }
}

/// The thread of `sync` may poll. A strict limit counts it from now on, whether it runs or sleeps.
void WaitRing::promote(SyncObject& sync) {
  sync.promoted = true;
  if (!lenient_) {
    join();
  }
}

void WaitRing::join() {
  if (++in_progress_ > 1) {
    source_.end_rests(); // a thread that was alone has company
  }
}

/// A lenient limit counts who polls.
void WaitRing::count_in(SimThread& self) {
  if (lenient_) {
    self.settle();
    join();
  }
}

void WaitRing::count_out(SimThread& self) {
  if (lenient_) {
    self.settle();
    --in_progress_;
  }
}

void WaitRing::leave(SimThread& self, SyncObject& sync) {
  lock_->lock(self);
  const bool was_head = ring_.front() == &sync;
  ring_.erase(ring_.find(&sync));
  in_progress_ -= sync.promoted && !lenient_ ? 1 : 0;
  SyncObject* const head = was_head && !ring_.empty() ? ring_.front() : nullptr;
  if (head != nullptr && !head->promoted) {
    WaitScope::answer(label_, head->waiter, self, "handed progress over", self.now());
    promote(*head);
    idling_.wake(self, *head, Category::lock_wait, true);
  }
  lock_->unlock(self);
}

void WaitRing::completed(SimThread& self, SyncObject& sync) {
  WaitScope::answer(label_, sync.waiter, self, requests_completed, self.now());
  if (idling_.idles(sync)) {
    idling_.wake(self, sync, Category::completion, false);
  } else {
    source_.end_rest_of(sync);
    idling_.signal_poller(self, sync, Category::completion);
  }
}

} // namespace contend
