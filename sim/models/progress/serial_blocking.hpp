// Legacy serial progress: every waiting thread checks its requests, then queues for the one progress lock.
#pragma once

#include "models/progress/progress_engine.hpp"

namespace contend {

class SerialBlockingProgress final : public ProgressEngine {
public:
  explicit SerialBlockingProgress(const ProgressParts& parts);

  void wait(SimThread& self, SyncObject& sync) override;
  int test(SimThread& self, SyncObject& sync, ProgressSource& source) override;
  void completed(SimThread& /*self*/, SyncObject& /*sync*/) override {} // waiters look for themselves

private:
  ProgressSource& source_;
  std::unique_ptr<Lock> lock_;
};

} // namespace contend
