#include "models/progress/every_nth.hpp"

#include <algorithm>
#include <span>

namespace contend {

std::int64_t& EveryNthProgress::turns_of(const SimThread& self) {
  const auto id = static_cast<std::size_t>(self.id());
  if (turns_.size() <= id) {
    turns_.resize(id + 1);
  }
  return turns_[id];
}

void EveryNthProgress::wait(SimThread& self, SyncObject& sync) {
  if (++polling_ == 2) {
    source_.end_rests(); // the thread that was alone has company
  }
  bool idle = false;
  while (sync.pending > 0) {
    // With company turns depend on each other: locks are waited for.
    const std::int64_t left = others_every_ - 1 - turns_of(self) % others_every_;
    if (idle && left > 0 && polling_ == 1) {
      const ProgressSource::Rest rest = source_.rest(self, left);
      turns_of(self) += rest.turns;
      if (rest.look_again()) {
        idle = false;
        continue;
      }
    }
    const bool others = ++turns_of(self) % others_every_ == 0;
    idle = progress(self, sync, others) == 0;
  }
  --polling_;
}

int EveryNthProgress::progress(SimThread& self, SyncObject& sync, bool others) {
  source_.begin_turn(self, polling_ == 1 ? ProgressSource::Noise::never : ProgressSource::Noise::always);
  const std::span<const int> own = source_.own_targets(self, sync);
  int count = 0;
  for (const int target : own) {
    count += source_.poll(self, target, ProgressSource::IfHeld::wait);
  }
  for (int target = 0; others && target < source_.targets(); ++target) {
    if (std::find(own.begin(), own.end(), target) == own.end()) {
      count += source_.poll(self, target, ProgressSource::IfHeld::skip);
    }
  }
  return count + source_.end_turn(self);
}

} // namespace contend
