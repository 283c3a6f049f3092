// Progress ownership: one waiting thread polls for all, the others sleep until their requests are complete or the owner
// leaves and passes its role on (Open MPI 4.0, ompi_sync_wait_mt).
#pragma once

#include "models/progress/progress_engine.hpp"

#include <deque>

namespace contend {

class OwnershipProgress final : public ProgressEngine {
public:
  explicit OwnershipProgress(const ProgressParts& parts);

  void wait(SimThread& self, SyncObject& sync) override;
  void completed(SimThread& self, SyncObject& sync) override;

private:
  void own(SimThread& self, SyncObject& sync);

  ProgressSource& source_;
  std::unique_ptr<Lock> ring_lock_;
  std::deque<SyncObject*> ring_; ///< waiting threads; the first one is the owner
};

} // namespace contend
