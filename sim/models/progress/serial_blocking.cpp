#include "models/progress/serial_blocking.hpp"

#include <string>

namespace contend {

SerialBlockingProgress::SerialBlockingProgress(const ProgressParts& parts)
    : source_(parts.source), lock_(parts.make_lock(std::string(parts.name) + "/progress lock")) {}

int SerialBlockingProgress::test(SimThread& self, SyncObject& /*sync*/, ProgressSource& source) {
  lock_->lock(self);
  const int found = source.progress(self, ProgressSource::Noise::never);
  lock_->unlock(self);
  return found;
}

void SerialBlockingProgress::wait(SimThread& self, SyncObject& sync) {
  while (sync.pending > 0) {
    test(self, sync, source_);
    sync.look(self, Category::poll_idle);
  }
}

} // namespace contend
