// Progress by target: a waiting thread polls the instances that its own requests belong to, and all of them every n-th
// time, so that nothing is left lying (MPICH ch4: per-VCI progress with global progress, MPIDI_progress_test; n is 256
// there, MPIDI_CH4_PROG_POLL_MASK 0xff, and counts in a thread-local variable):
//
//   wait(sync):
//     while pending > 0:
//       turns++; targets = turns mod n == 0 ? all : those of my requests
//       for each k in targets: lock(k); made = poll(k); unlock; if made: break
//       yield
//
// The lock is taken, not tried. Whether an idle turn ends in a yield is the design's choice (yield_when_idle).
#pragma once

#include "models/progress/periodic.hpp"

namespace contend {

class PerTargetProgress final : public PeriodicProgress {
public:
  explicit PerTargetProgress(const ProgressParts& parts) : PeriodicProgress(parts) {}

  int test(SimThread& self, SyncObject& sync, ProgressSource& /*source*/) override { return turn(self, sync); }

private:
  int poll_targets(SimThread& self, SyncObject& sync, bool further) override;
};

} // namespace contend
