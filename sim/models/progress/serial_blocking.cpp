#include "models/progress/serial_blocking.hpp"

#include <string>

namespace contend {

SerialBlockingProgress::SerialBlockingProgress(const ProgressParts& parts)
    : source_(parts.source), lock_(parts.make_lock(std::string(parts.name) + "/progress lock")) {}

void SerialBlockingProgress::wait(SimThread& self, SyncObject& sync) {
  while (sync.pending > 0) {
    lock_->lock(self);
    source_.progress(self, ProgressSource::Noise::never);
    lock_->unlock(self);
    sync.line.load(self, Category::poll_idle);
  }
}

} // namespace contend
