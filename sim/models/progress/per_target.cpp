#include "models/progress/per_target.hpp"

namespace contend {

std::int64_t& PerTargetProgress::turns_of(const SimThread& self) {
  const auto id = static_cast<std::size_t>(self.id());
  if (turns_.size() <= id) {
    turns_.resize(id + 1);
  }
  return turns_[id];
}

void PerTargetProgress::wait(SimThread& self, SyncObject& sync) {
  if (++polling_ == 2) {
    source_.end_rests(); // the thread that was alone has company
  }
  bool idle = false;
  while (sync.pending > 0) {
    // With company turns depend on each other: locks are waited for.
    const std::int64_t left = global_every_ - 1 - turns_of(self) % global_every_;
    if (idle && left > 0 && polling_ == 1) {
      const ProgressSource::Rest rest = source_.rest(self, left);
      turns_of(self) += rest.turns;
      if (rest.look_again()) {
        idle = false;
        continue;
      }
    }
    const bool everything = ++turns_of(self) % global_every_ == 0;
    idle = progress(self, sync, everything) == 0;
  }
  --polling_;
}

int PerTargetProgress::progress(SimThread& self, SyncObject& sync, bool everything) {
  source_.begin_turn(self, polling_ == 1 ? ProgressSource::Noise::never : ProgressSource::Noise::always);
  int count = 0;
  if (everything) {
    for (int target = 0; target < source_.targets() && count == 0; ++target) {
      count = source_.poll(self, target, ProgressSource::IfHeld::wait);
    }
  } else {
    for (const int own : source_.own_targets(self, sync)) {
      count += count == 0 ? source_.poll(self, own, ProgressSource::IfHeld::wait) : 0;
    }
  }
  return count + source_.end_turn(self);
}

} // namespace contend
