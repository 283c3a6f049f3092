// One turn of the progress loop: every instance by try-lock, then the delayed sends.
#include "mpi/process.hpp"

#include <algorithm>

namespace contend {

int Process::progress(SimThread& self) {
  const TraceScope scope(self, rank_, "progress");
  turn_start_ = self.now();
  turn_.start();
  self.owe(settings_.software.progress_call, Category::poll_idle);
  return finish_turn(self, 0, 0);
}

/// The rest of a turn from `next_instance` on; `found` counts what the turn has found so far.
int Process::finish_turn(SimThread& self, std::size_t next_instance, int found) {
  for (; next_instance < instances_.size(); ++next_instance) {
    found += poll_instance(self, instances_[next_instance]);
  }
  if (!delayed_.empty()) {
    turn_.undisturbed = false;
    found += retry_delayed_sends(self);
  }
  turn_.period = self.now() - turn_start_;
  return found;
}

int Process::poll_instance(SimThread& self, Instance& instance) {
  const Duration try_at = self.now() - turn_start_;
  if (!instance.lock->try_lock(self, Category::poll_idle)) {
    turn_.undisturbed = false;
    return 0;
  }
  instance.context->look(self);
  const Duration look_at = engine_.now() - turn_start_;
  const int found = instance.context->drain(self, *this);
  turn_.undisturbed = turn_.undisturbed && found == 0;
  turn_.visits.push_back({instance.lock.get(), try_at, look_at});
  instance.lock->unlock(self, Category::poll_idle);
  return found;
}

int Process::progress_after_idle(SimThread& self) {
  self.settle();
  const IdlePoll::Resumption resumption = idle_.rest(self, turn_, nothing_in_sight());
  if (!resumption.inside && resumption.turns > 0 && !delayed_.empty()) {
    const TraceScope scope(self, rank_, "progress");
    return finish_turn(self, instances_.size(), 0); // the last skipped turn would have found them at its end
  }
  if (!resumption.inside) {
    return resumption.turns > 0 ? 1 : progress(self); // let the caller look at its own condition first
  }
  const TraceScope scope(self, rank_, "progress");
  // A visit is an instance: turns with delayed sends are never skipped as a whole.
  turn_.undisturbed = false;
  std::size_t next_instance = resumption.visit;
  int found = 0;
  if (resumption.looking) {
    Instance& instance = instances_[next_instance++];
    found = instance.context->drain(self, *this);
    instance.lock->unlock(self, Category::poll_idle);
  }
  return finish_turn(self, next_instance, found);
}

void Process::activity(NicContext& /*context*/) { idle_.disturb(); }

bool Process::nothing_in_sight() const {
  return delayed_.empty() && std::none_of(instances_.begin(), instances_.end(),
                                          [](const Instance& instance) { return instance.context->has_completions(); });
}

} // namespace contend
