#include "models/progress/serial_try_lock.hpp"

#include <string>

namespace contend {

SerialTryLockProgress::SerialTryLockProgress(const ProgressParts& parts)
    : source_(parts.source), pause_(parts.pause), lock_(parts.make_lock(std::string(parts.name) + "/progress lock")) {}

int SerialTryLockProgress::test(SimThread& self, SyncObject& /*sync*/, ProgressSource& source) {
  if (!lock_->try_lock(self, Category::poll_idle)) {
    self.spend_time(pause_, Category::poll_idle);
    return 0;
  }
  const int found = source.progress(self, ProgressSource::Noise::never);
  lock_->unlock(self, Category::poll_idle);
  return found;
}

void SerialTryLockProgress::wait(SimThread& self, SyncObject& sync) {
  while (sync.pending > 0) {
    test(self, sync, source_);
    sync.look(self, Category::poll_idle);
  }
}

} // namespace contend
