#include "models/progress/periodic.hpp"

namespace contend {

std::int64_t& PeriodicProgress::turns_of(const SimThread& self) {
  const auto id = static_cast<std::size_t>(self.id());
  if (turns_.size() <= id) {
    turns_.resize(id + 1);
  }
  return turns_[id];
}

void PeriodicProgress::wait(SimThread& self, SyncObject& sync) {
  if (++polling_ == 2) {
    source_.end_rests(); // the thread that was alone has company
  }
  bool idle = false;
  while (sync.pending > 0) {
    // With company turns depend on each other: locks are waited for. An n-th turn is not followed by another one.
    const std::int64_t place = turns_of(self) % every_;
    const std::int64_t left = every_ - 1 - place;
    if (idle && place > 0 && left > 0 && polling_ == 1) {
      const ProgressSource::Rest rest = source_.rest(self, left);
      turns_of(self) += rest.turns;
      if (rest.look_again()) {
        idle = false;
        continue;
      }
    }
    idle = turn(self, sync) == 0;
  }
  --polling_;
}

int PeriodicProgress::turn(SimThread& self, SyncObject& sync) {
  const bool further = ++turns_of(self) % every_ == 0;
  source_.begin_turn(self, polling_ == 1 ? ProgressSource::Noise::never : ProgressSource::Noise::always);
  const int found = poll_targets(self, sync, further);
  return found + source_.end_turn(self);
}

} // namespace contend
