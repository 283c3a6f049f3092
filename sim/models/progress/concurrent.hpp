// Concurrent progress: no lock but those of the instances, all waiting threads poll (D alg. 4):
//
//   progress():
//     k = dedicated_id(); count = 0
//     if trylock(instance[k]): count = poll(k); unlock
//     if count == 0: for i in 1..n: k = round_robin_id()
//       if trylock(instance[k]): count = poll(k); unlock
//       if count > 0: return
//
// The second part sees to it that every instance is polled by somebody, even when its thread has ended or waits elsewhere.
// round_robin_id() is a counter that the threads of the process share. A limit on threads in progress (reference: Open MPI
// 5) lets the others sleep.
#pragma once

#include "models/progress/progress_engine.hpp"
#include "models/progress/wait_ring.hpp"

namespace contend {

class ConcurrentProgress final : public ProgressEngine {
public:
  static constexpr ProgressTraits traits{.limits_pollers = true, .threads_idle_beyond_limit = true};

  explicit ConcurrentProgress(const ProgressParts& parts);

  void wait(SimThread& self, SyncObject& sync) override;
  int test(SimThread& self, SyncObject& sync, ProgressSource& /*source*/) override {
    return progress(self, sync, ProgressSource::Noise::always);
  }
  void completed(SimThread& self, SyncObject& sync) override { ring_.completed(self, sync); }

private:
  void poll_until_complete(SimThread& self, SyncObject& sync);
  /// No other thread makes progress.
  [[nodiscard]] bool alone() const { return ring_.in_progress() == 1; }
  int progress(SimThread& self, SyncObject& sync, ProgressSource::Noise noise);

  ProgressSource& source_;
  WaitRing ring_;
};

} // namespace contend
