// Legacy serial progress: every waiting thread checks its requests, then queues for the one progress lock. Who gets it polls
// everything, also when the thread before it has just done so, and all the others wait for that:
//
//   wait(sync):
//     while sync.pending > 0:
//       lock(progress_lock); for each target: if trylock(target): poll; unlock(target)
//       unlock(progress_lock); read sync
//
// Nothing wakes a waiting thread but the lock: it learns that its requests are complete when its turn is over.
#pragma once

#include "models/progress/progress_engine.hpp"

namespace contend {

class SerialBlockingProgress final : public ProgressEngine {
public:
  static constexpr ProgressTraits traits{.reads_flags = true};

  explicit SerialBlockingProgress(const ProgressParts& parts);

  void wait(SimThread& self, SyncObject& sync) override;
  int test(SimThread& self, SyncObject& sync, ProgressSource& source) override;
  [[nodiscard]] bool locks_turns() const override { return true; }
  void completed(SimThread& /*self*/, SyncObject& /*sync*/) override {} // waiters look for themselves

private:
  ProgressSource& source_;
  std::unique_ptr<Lock> lock_;
};

} // namespace contend
