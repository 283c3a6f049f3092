#include "models/progress/every_nth.hpp"

#include <algorithm>
#include <span>

namespace contend {

int EveryNthProgress::poll_targets(SimThread& self, SyncObject& sync, bool further) {
  const std::span<const int> own = source().own_targets(self, sync);
  int count = 0;
  for (const int target : own) {
    count += source().poll(self, target, ProgressSource::IfHeld::wait);
  }
  for (int target = 0; further && target < source().targets(); ++target) {
    if (std::find(own.begin(), own.end(), target) == own.end()) {
      count += source().poll(self, target, ProgressSource::IfHeld::skip);
    }
  }
  return count;
}

} // namespace contend
