// Waiting with one lock for the state of all requests of the process (Open MPI until 1.10: ompi_request_lock, and
// opal_condition_wait where progress is polled). Every waiting thread makes progress, as concurrently as instances let it:
//
//   waitall(requests):
//     lock(request_lock); ++waiting; look at each request
//     while any is incomplete:
//       start = completed; pending = how many are
//       while completed - start < pending: condition_wait()
//       look at each request
//     --waiting; unlock(request_lock)
//
//   condition_wait():  ++listening
//                      if signalled > 0: unlock(request_lock); progress(); lock(request_lock)
//                      else: while signalled == 0: unlock(request_lock); progress(); lock(request_lock)
//                            --signalled
//                      --listening
//   complete(request): lock(request_lock); ++completed; if waiting > 0: signalled = listening; unlock(request_lock)
//   free(request):     lock(request_lock); give it back;  unlock(request_lock)
//
// Who completes a request queues for the lock behind all those who wait for requests of their own, and so does, for each
// of them, who has what it waited for. Only blocking sends and receives give theirs back without it. Each completion wakes
// all who wait, and each of them writes the condition's line on its way out and in again.
#pragma once

#include "core/cache_line.hpp"
#include "models/progress/progress_engine.hpp"

#include <cstdint>
#include <memory>

namespace contend {

class RequestLockProgress final : public ProgressEngine {
public:
  static constexpr ProgressTraits traits{.reads_flags = true, .locks_requests = true};

  explicit RequestLockProgress(const ProgressParts& parts);

  void wait(SimThread& self, SyncObject& sync) override;
  void advanced(SimThread& self, SyncObject& sync) override;
  void completed(SimThread& self, SyncObject& sync) override;
  void completed_unwatched(SimThread& self) override;
  [[nodiscard]] Lock* request_lock() override { return lock_.get(); }

private:
  void wait_for_signal(SimThread& self);
  void turn(SimThread& self);

  ProgressSource& source_;
  std::unique_ptr<Lock> lock_;
  CacheLine counters_;         ///< where `completed_` and `waiting_` live
  CacheLine condition_;        ///< where `listening_` and `signalled_` live
  std::int64_t completed_ = 0; ///< requests of all threads, whether somebody waits for them or not
  int waiting_ = 0;            ///< threads that wait for requests
  int listening_ = 0;          ///< those of them that have to see a signal
  int signalled_ = 0;          ///< how many of them have yet to see the last one
};

} // namespace contend
