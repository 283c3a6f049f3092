#include "models/progress/request_lock.hpp"

#include <string>

namespace contend {

RequestLockProgress::RequestLockProgress(const ProgressParts& parts)
    : source_(parts.source), lock_(parts.make_lock(std::string(parts.name) + "/request lock")),
      counters_(parts.engine, parts.host, std::string(parts.name) + "/request counters"),
      condition_(parts.engine, parts.host, std::string(parts.name) + "/request condition") {}

void RequestLockProgress::wait(SimThread& self, SyncObject& sync) {
  if (sync.pending <= 0) {
    return;
  }
  lock_->lock(self);
  counters_.store_protected(self, Category::line_transfer);
  ++waiting_;
  sync.look(self, Category::poll_idle);
  while (sync.pending > 0) {
    const std::int64_t awaited = completed_ + sync.pending;
    while (completed_ < awaited && sync.pending > 0) {
      wait_for_signal(self);
      counters_.load(self, Category::line_transfer);
    }
    sync.look(self, Category::poll_idle);
  }
  counters_.store_protected(self, Category::line_transfer);
  --waiting_;
  lock_->unlock(self);
}

/// opal_condition_wait().
void RequestLockProgress::wait_for_signal(SimThread& self) {
  condition_.store_protected(self, Category::line_transfer);
  if (signalled_ > 0) { // others have yet to see it
    turn(self);
    return;
  }
  ++listening_;
  do {
    turn(self);
    condition_.load(self, Category::poll_idle);
  } while (signalled_ == 0);
  condition_.store_protected(self, Category::line_transfer);
  --signalled_;
  --listening_;
}

void RequestLockProgress::turn(SimThread& self) {
  lock_->unlock(self);
  source_.progress(self, ProgressSource::Noise::always);
  lock_->lock(self);
}

void RequestLockProgress::completed_unwatched(SimThread& self) {
  lock_->lock(self, Category::completion);
  counters_.store_protected(self, Category::completion);
  ++completed_;
  if (waiting_ > 0) {
    condition_.store_protected(self, Category::completion);
    signalled_ = listening_;
  }
  lock_->unlock(self, Category::completion);
}

void RequestLockProgress::advanced(SimThread& self, SyncObject& /*sync*/) { completed_unwatched(self); }

void RequestLockProgress::completed(SimThread& self, SyncObject& /*sync*/) { completed_unwatched(self); }

} // namespace contend
