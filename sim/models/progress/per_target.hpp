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
// The lock is taken, not tried. Yielding is free here: every thread has its core to itself.
#pragma once

#include "models/progress/progress_engine.hpp"

#include <cstdint>
#include <vector>

namespace contend {

class PerTargetProgress final : public ProgressEngine {
public:
  explicit PerTargetProgress(const ProgressParts& parts)
      : source_(parts.source), global_every_(parts.design.global_every) {}

  void wait(SimThread& self, SyncObject& sync) override;
  int test(SimThread& self, SyncObject& sync, ProgressSource& /*source*/) override {
    return progress(self, sync, ++turns_of(self) % global_every_ == 0);
  }
  void completed(SimThread& /*self*/, SyncObject& sync) override { source_.end_rest_of(sync); }

private:
  int progress(SimThread& self, SyncObject& sync, bool everything);
  std::int64_t& turns_of(const SimThread& self);

  ProgressSource& source_;
  std::int64_t global_every_;
  int polling_ = 0;                 ///< threads that wait
  std::vector<std::int64_t> turns_; ///< by thread id
};

} // namespace contend
