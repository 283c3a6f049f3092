#include "models/progress/ownership.hpp"

#include <algorithm>

namespace contend {

OwnershipProgress::OwnershipProgress(const ProgressParts& parts)
    : source_(parts.source), ring_(parts, std::max(1, parts.design.threads_in_progress)) {}

void OwnershipProgress::wait(SimThread& self, SyncObject& sync) {
  ring_.wait(self, sync, [&] { own(self, sync); });
}

void OwnershipProgress::own(SimThread& self, const SyncObject& sync) {
  bool idle = false;
  while (sync.pending > 0) {
    const bool alone = ring_.in_progress() == 1; // else no two turns are alike
    if (idle && alone && source_.rest(self, ProgressSource::no_limit).look_again()) {
      idle = false;
      continue;
    }
    idle = source_.progress(self, alone ? ProgressSource::Noise::never : ProgressSource::Noise::always) == 0;
  }
}

} // namespace contend
