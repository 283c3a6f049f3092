#include "models/progress/serial_try_lock.hpp"

#include <string>

namespace contend {

SerialTryLockProgress::SerialTryLockProgress(const ProgressParts& parts)
    : source_(parts.source), pause_(parts.pause), lock_(parts.make_lock(std::string(parts.name) + "/progress lock")) {}

void SerialTryLockProgress::wait(SimThread& self, SyncObject& sync) {
  while (sync.pending > 0) {
    if (lock_->try_lock(self, Category::poll_idle)) {
      source_.progress(self, ProgressSource::Noise::never);
      lock_->unlock(self, Category::poll_idle);
    } else {
      self.spend(pause_, Category::poll_idle);
    }
    sync.line.load(self, Category::poll_idle);
  }
}

} // namespace contend
