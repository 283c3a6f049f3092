// Progress ownership: one waiting thread polls for all, the others sleep until their requests are complete or the owner
// leaves and passes its role on (Open MPI 4.0, ompi_sync_wait_mt; D ch. 4). With a limit on threads in progress above one
// (Open MPI 5, opal_max_thread_in_progress) that many poll at the same time, each of them all targets:
//
//   wait(sync):
//     enter the ring; sleep while I am not its head and threads_in_progress >= limit
//     while sync.pending > 0: for each target: if trylock(target): poll; unlock
//     leave the ring; if I was its head: wake the new one
#pragma once

#include "models/progress/progress_engine.hpp"
#include "models/progress/wait_ring.hpp"

namespace contend {

class OwnershipProgress final : public ProgressEngine {
public:
  static constexpr ProgressTraits traits{.limits_pollers = true, .threads_idle = true};

  explicit OwnershipProgress(const ProgressParts& parts);

  void wait(SimThread& self, SyncObject& sync) override;
  void completed(SimThread& self, SyncObject& sync) override { ring_.completed(self, sync); }

private:
  void own(SimThread& self, const SyncObject& sync);

  ProgressSource& source_;
  WaitRing ring_;
};

} // namespace contend
