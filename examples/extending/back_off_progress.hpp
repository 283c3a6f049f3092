// Every waiting thread polls all instances by try-lock; who finds nothing stays away twice as long as the last time.
#pragma once

#include "models/progress/progress_engine.hpp"

#include <algorithm>

namespace contend::example {

class BackOffProgress final : public ProgressEngine {
public:
  explicit BackOffProgress(const ProgressParts& parts) : source_(parts.source), pause_(parts.pause) {}

  void wait(SimThread& self, SyncObject& sync) override {
    Duration away = pause_;
    for (; sync.pending > 0; sync.look(self, Category::poll_idle)) {
      if (source_.progress(self, ProgressSource::Noise::always) > 0) {
        away = pause_;
      } else {
        self.spend_time(away, Category::poll_idle);
        away = std::min(away * 2, pause_ * 64);
      }
    }
  }
  void completed(SimThread& /*self*/, SyncObject& /*sync*/) override {} // waiters look for themselves

private:
  ProgressSource& source_;
  Duration pause_;
};

} // namespace contend::example
