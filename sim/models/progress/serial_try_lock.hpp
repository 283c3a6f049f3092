// Serial progress by try-lock: a thread that does not get the progress lock goes back to checking its requests, and nobody
// queues behind the one that polls:
//
//   wait(sync):
//     while sync.pending > 0:
//       if trylock(progress_lock): for each target: if trylock(target): poll; unlock(target)
//                                  unlock(progress_lock)
//       else: pause
//       read sync
#pragma once

#include "models/progress/progress_engine.hpp"

namespace contend {

class SerialTryLockProgress final : public ProgressEngine {
public:
  static constexpr ProgressTraits traits{.reads_flags = true};

  explicit SerialTryLockProgress(const ProgressParts& parts);

  void wait(SimThread& self, SyncObject& sync) override;
  int test(SimThread& self, SyncObject& sync, ProgressSource& source) override;
  [[nodiscard]] bool locks_turns() const override { return true; }
  void completed(SimThread& /*self*/, SyncObject& /*sync*/) override {} // waiters look for themselves

private:
  ProgressSource& source_;
  Duration pause_;
  std::unique_ptr<Lock> lock_;
};

} // namespace contend
