// A waiting thread advances the instances of its own requests, and at every n-th turn tries the others too, so that all make
// progress when some threads are idle (multichannel MPICH2):
//
//   wait(sync):
//     while pending > 0:
//       for each own instance k: lock(k); made += poll(k); unlock
//       if ++turns mod n == 0: for each other instance k: if trylock(k): made += poll(k); unlock
#pragma once

#include "models/progress/periodic.hpp"

namespace contend {

class EveryNthProgress final : public PeriodicProgress {
public:
  explicit EveryNthProgress(const ProgressParts& parts) : PeriodicProgress(parts) {}

private:
  int poll_targets(SimThread& self, SyncObject& sync, bool further) override;
};

} // namespace contend
