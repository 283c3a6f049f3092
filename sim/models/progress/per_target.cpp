#include "models/progress/per_target.hpp"

namespace contend {

int PerTargetProgress::poll_targets(SimThread& self, SyncObject& sync, bool further) {
  int count = 0;
  if (further) {
    for (int target = 0; target < source().targets() && count == 0; ++target) {
      count = source().poll(self, target, ProgressSource::IfHeld::wait);
    }
  } else {
    for (const int own : source().own_targets(self, sync)) {
      count += count == 0 ? source().poll(self, own, ProgressSource::IfHeld::wait) : 0;
    }
  }
  return count;
}

} // namespace contend
