#include "models/progress/request_lock.hpp"

#include <string>

namespace contend {

RequestLockProgress::RequestLockProgress(const ProgressParts& parts)
    : source_(parts.source), lock_(parts.make_lock(std::string(parts.name) + "/request lock")) {}

void RequestLockProgress::wait(SimThread& self, SyncObject& sync) {
  if (sync.pending <= 0) {
    return;
  }
  lock_->lock(self);
  sync.look(self, Category::poll_idle);
  while (sync.pending > 0) {
    const std::int64_t awaited = completed_ + sync.pending;
    while (completed_ < awaited && sync.pending > 0) {
      lock_->unlock(self);
      source_.progress(self, ProgressSource::Noise::always);
      lock_->lock(self);
    }
    sync.look(self, Category::poll_idle);
  }
  lock_->unlock(self);
}

void RequestLockProgress::completed_unwatched(SimThread& self) {
  lock_->lock(self, Category::completion);
  ++completed_;
  lock_->unlock(self, Category::completion);
}

void RequestLockProgress::advanced(SimThread& self, SyncObject& /*sync*/) { completed_unwatched(self); }

void RequestLockProgress::completed(SimThread& self, SyncObject& /*sync*/) { completed_unwatched(self); }

} // namespace contend
