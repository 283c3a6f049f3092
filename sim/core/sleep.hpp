// Sleeping for a time (nanosleep).
#pragma once

#include "core/engine.hpp"

namespace contend {

/// Leaves the core to others for `span`, where it has others. `reason` is what a report of who waits for what shows.
inline void sleep(SimThread& self, Duration span, Category category, const Waitable& reason) {
  if (!self.shares_core()) {
    self.count_voluntary_switch();
    self.was_off_core(self.now(), self.now() + span);
    self.spend_time(span, category);
    return;
  }
  self.settle();
  self.wake_at(self.now() + span, {}, self);
  self.wait(reason, category, Waiting::asleep);
}

} // namespace contend
