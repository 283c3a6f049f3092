// Waiting with one lock for the state of all requests of the process (Open MPI until 1.10: ompi_request_lock, and
// opal_condition_wait where progress is polled). Every waiting thread makes progress, as concurrently as instances let it:
//
//   waitall(requests):
//     lock(request_lock); look at each request
//     while any is incomplete:
//       start = completed; pending = how many are
//       while completed - start < pending: unlock(request_lock); progress(); lock(request_lock)
//       look at each request
//     unlock(request_lock)
//
//   complete(request): lock(request_lock); ++completed; unlock(request_lock)
//   free(request):     lock(request_lock); give it back;  unlock(request_lock)
//
// Who completes a request queues for the lock behind all those who wait for requests of their own, and so does, for each
// of them, who has what it waited for. Only blocking sends and receives give theirs back without it.
#pragma once

#include "models/progress/progress_engine.hpp"

#include <cstdint>
#include <memory>

namespace contend {

class RequestLockProgress final : public ProgressEngine {
public:
  explicit RequestLockProgress(const ProgressParts& parts);

  void wait(SimThread& self, SyncObject& sync) override;
  void advanced(SimThread& self, SyncObject& sync) override;
  void completed(SimThread& self, SyncObject& sync) override;
  void completed_unwatched(SimThread& self) override;
  [[nodiscard]] Lock* request_lock() override { return lock_.get(); }

private:
  ProgressSource& source_;
  std::unique_ptr<Lock> lock_;
  std::int64_t completed_ = 0; ///< requests of all threads, whether somebody waits for them or not
};

} // namespace contend
