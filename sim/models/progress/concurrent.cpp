#include "models/progress/concurrent.hpp"

namespace contend {

ConcurrentProgress::ConcurrentProgress(const ProgressParts& parts)
    : source_(parts.source),
      ring_(parts, parts.design.threads_in_progress > 0 ? parts.design.threads_in_progress : WaitRing::no_limit) {}

void ConcurrentProgress::wait(SimThread& self, SyncObject& sync) {
  ring_.wait(self, sync, [&] { poll_until_complete(self, sync); });
}

void ConcurrentProgress::poll_until_complete(SimThread& self, SyncObject& sync) {
  bool idle = false;
  while (sync.pending > 0) {
    // With company no two turns are alike: somebody else has the lines of the locks and of the counter. A thread that joins
    // begins with the lock of an instance, all of which a resting thread watches.
    if (idle && alone() && source_.rest(self, ProgressSource::no_limit).look_again()) {
      idle = false;
      continue;
    }
    idle = progress(self, sync, alone() ? ProgressSource::Noise::never : ProgressSource::Noise::always) == 0;
  }
}

int ConcurrentProgress::progress(SimThread& self, SyncObject& sync, ProgressSource::Noise noise) {
  source_.begin_turn(self, noise);
  int count = 0;
  for (const int own : source_.own_targets(self, sync)) {
    count += source_.poll(self, own, ProgressSource::IfHeld::skip);
  }
  for (int i = 0; i < source_.targets() && count == 0; ++i) {
    count = source_.poll(self, source_.next_target(self), ProgressSource::IfHeld::skip);
  }
  return count + source_.end_turn(self);
}

} // namespace contend
