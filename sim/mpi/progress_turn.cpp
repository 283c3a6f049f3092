// One turn of the library's progress loop, and sleeping through turns that find nothing.
#include "core/trace_scope.hpp"
#include "mpi/process.hpp"

#include <algorithm>
#include <utility>

namespace contend {

namespace {

/// Somebody else is at the lock, be it a resting thread.
bool in_use(Lock& lock) {
  lock.disturb_visitor();
  return !lock.quiet();
}

} // namespace

Poller& Process::add_poller(std::size_t thread) {
  if (pollers_.size() <= thread) {
    pollers_.resize(thread + 1);
  }
  pollers_[thread] = std::make_unique<Poller>();
  return *pollers_[thread];
}

IdlePoll& Process::idle_of(Poller& poller) {
  if (poller.idle == nullptr) {
    if (free_idles_.empty()) {
      idles_.push_back(std::make_unique<IdlePoll>(engine_, settings_.coalesce_idle_polls, name(), observer()));
      free_idles_.push_back(idles_.back().get());
    }
    poller.idle = free_idles_.back();
    free_idles_.pop_back();
  }
  return *poller.idle;
}

void Process::stop(SimThread& self) {
  const auto id = static_cast<std::size_t>(self.id());
  if (id < pollers_.size() && pollers_[id] && pollers_[id]->idle != nullptr) {
    free_idles_.push_back(std::exchange(pollers_[id]->idle, nullptr));
  }
}

void Process::begin_turn(SimThread& self, Noise noise) {
  TraceScope::open(self, rank_, "progress");
  Poller& poller = poller_of(self);
  poller.polls = 0;
  poller.drew = false;
  poller.found = 0;
  if (poller.resuming) {
    poller.turn.undisturbed = false;
    if (global_lock_ && !poller.resumption.looking) {
      global_lock_->lock(self, Category::poll_idle);
    }
    return;
  }
  poller.turn_start = self.now();
  poller.turn.start(self);
  self.owe(settings_.software.progress_call +
               (noise == Noise::always ? noise_.exponential(settings_.noise) : Duration{}),
           Category::poll_idle);
  if (global_lock_) {
    poller.lock_at = self.now() - poller.turn_start;
    if (!poller.in_section) {
      poller.disturb_if(in_use(*global_lock_));
      global_lock_->lock(self, Category::poll_idle);
    }
  }
}

int Process::poll(SimThread& self, int target, IfHeld if_held) {
  Poller& poller = poller_of(self);
  if (poller.passed()) {
    return 0;
  }
  Instance& instance = instances_[static_cast<std::size_t>(target)];
  if (poller.take_looking()) {
    if (global_lock_) {
      instance.lock->lock(self); // what has been granted is the global lock
    }
    const PollTurn::Visit& visit = poller.turn.visits[poller.resumption.visit];
    instance.context->skipped_look(self, engine_.now() - (visit.look_at - visit.begin_at));
    const int found = handle_and_unlock(self, instance);
    poller.disturb_if(found > 0);
    poller.found += found;
    return found;
  }
  // Under the global lock a turn never tries again: it has the lock from one look to the next.
  const Duration try_at = !global_lock_                ? self.now() - poller.turn_start
                          : poller.turn.visits.empty() ? poller.lock_at
                                                       : poller.turn.visits.back().done_at;
  if (if_held == IfHeld::wait) {
    poller.disturb_if(in_use(*instance.lock));
    instance.lock->lock(self, Category::poll_idle);
  } else if (!instance.lock->try_lock(self, Category::poll_idle)) {
    poller.disturb_if(true);
    return 0;
  }
  const Duration begin_at = self.now() - poller.turn_start;
  instance.context->look(self);
  const Duration look_at = engine_.now() - poller.turn_start;
  poller.turn.visits.push_back(
      {&lock_of(instance), try_at, look_at, look_at, target, begin_at, std::exchange(poller.drew, false)});
  const int found = handle_and_unlock(self, instance);
  poller.disturb_if(found > 0);
  poller.turn.visits.back().done_at = self.now() - poller.turn_start;
  poller.found += found;
  return found;
}

/// Handles what a look has shown at an instance whose lock is held.
int Process::handle_and_unlock(SimThread& self, Instance& instance) {
  if (handles_unlocked_) {
    return instance.context->drain_unlocked(self, *this, *instance.lock);
  }
  const int found = instance.context->drain(self, *this);
  instance.lock->unlock(self, Category::poll_idle);
  return found;
}

int Process::take_commands(SimThread& self) {
  Poller& poller = poller_of(self);
  if (poller.passed()) {
    return 0;
  }
  if (!poller.take_looking()) {
    const Duration try_at = self.now() - poller.turn_start;
    commands_->look(self, Category::poll_idle);
    const Duration look_at = engine_.now() - poller.turn_start;
    poller.turn.visits.push_back({nullptr, try_at, look_at, look_at});
  }
  int taken = 0;
  // Not more than the queue holds, or busy threads would keep this one from polling.
  for (const auto most = static_cast<int>(commands_->slots()); taken < most && commands_->ready(); ++taken) {
    const Command command = commands_->take(self, Category::line_transfer);
    if (command.kind == Command::Kind::send) {
      start_send(self, command.communicator, command.peer, command.tag, command.bytes, command.request);
    } else {
      start_receive(self, *command.request, command.communicator, command.peer, command.tag, command.bytes);
    }
    commands_->look(self, Category::poll_idle);
  }
  poller.disturb_if(taken > 0);
  poller.found += taken;
  return taken;
}

int Process::end_turn(SimThread& self) {
  Poller& poller = poller_of(self);
  poller.resuming = false;
  int found = 0;
  if (tasks_ && !tasks_->empty()) { // a thread in progress helps as well
    poller.disturb_if(true);
    while (tasks_->run_one(self, Category::poll_idle)) {
      ++found;
    }
  }
  if (steps_may_go()) {
    poller.disturb_if(true);
    found += retry_steps(self);
  }
  if (delayed_sends_may_go()) {
    poller.disturb_if(true);
    found += retry_delayed_sends(self);
  }
  if (answers_may_go()) {
    poller.disturb_if(true);
    found += send_answers(self);
  }
  if (global_lock_ && !poller.in_section) {
    global_lock_->unlock(self, Category::poll_idle);
  }
  poller.turn.period = self.now() - poller.turn_start;
  if (global_lock_ && !poller.turn.visits.empty()) {
    poller.turn.visits.back().done_at = poller.turn.period;
  }
  TraceScope::close(self);
  const ProgressDesign& design = settings_.library.progress;
  const bool yields =
      (design.yield_every_turn && !poller.testing) || (design.yield_when_idle && poller.found + found == 0);
  if (yields && !poller.keeps_core && !poller.in_section) { // nobody yields the core and keeps the section
    yield(self);
  }
  return found;
}

/// With instances assigned to threads, the thread's own: what it waits for may have come in anywhere. Else those that the
/// requests were mapped to.
std::span<const int> Process::own_targets(SimThread& self, SyncObject& sync) {
  if (!mapping_.decides()) {
    sync.targets.assign(1, own_instance_->pick(self));
  }
  return sync.targets;
}

int Process::next_target(SimThread& self) {
  if (instances_.size() == 1) {
    return 0;
  }
  Poller& poller = poller_of(self);
  if (poller.passing() && poller.polls < poller.turn.visits.size()) {
    return poller.turn.visits[poller.polls].target; // which others may have drawn from since
  }
  update_shared(self, next_target_line_,
                Category::poll_idle); // the study's algorithm counts on everybody's turn to come
  poller.drew = true;
  return static_cast<int>(next_target_++ % instances_.size());
}

/// sched_yield(). Where the thread has its core to itself, the system call is all there is to it.
void Process::yield(SimThread& self) const {
  self.owe(host_.futex().yield_call, Category::poll_idle);
  self.yield();
}

ProgressSource::Rest Process::rest(SimThread& self, std::int64_t limit) {
  self.settle();
  Poller& poller = poller_of(self);
  const IdlePoll::Resumption resumption =
      idle_of(poller).rest(self, poller.turn, poller.last_turn, nothing_in_sight(poller.turn), limit);
  poller.resumption = resumption;
  poller.resuming = resumption.inside;
  if (!global_lock_ && !resumption.inside && resumption.turns > 0 && end_of_turn_has_work()) {
    // The last skipped turn would have found them at its end. (One that gives the global lock back has looked for them before.)
    poller.resuming = true;
    poller.resumption.visit = poller.turn.visits.size();
    poller.resumption.looking = false;
    return {resumption.turns - 1, true};
  }
  return {resumption.turns, resumption.inside};
}

void Process::skipped_look(const SimThread& poller, const PollTurn::Visit& visit, TimePoint begin) {
  instances_[static_cast<std::size_t>(visit.target)].context->skipped_look(poller, begin);
}

/// A turn that goes on in its middle has drawn these targets before anybody who draws from now on. Whole turns draw each as often.
void Process::interrupted(const PollTurn& turn, std::size_t visit) {
  for (std::size_t i = 0; i <= visit && i < turn.visits.size(); ++i) {
    next_target_ += turn.visits[i].drawn ? 1 : 0;
  }
}

void Process::activity() { end_rests(); }

void Process::end_rests() {
  for (const auto& idle : idles_) {
    idle->disturb();
  }
}

void Process::end_rest_of(const SyncObject& sync) {
  const auto id = static_cast<std::size_t>(sync.waiter);
  if (id < pollers_.size() && pollers_[id] && pollers_[id]->idle != nullptr) {
    pollers_[id]->idle->disturb();
  }
}

bool Process::nothing_in_sight(const PollTurn& turn) {
  return !end_of_turn_has_work() && (!commands_ || commands_->quiet()) &&
         std::none_of(instances_.begin(), instances_.end(), [&](Instance& instance) {
           return instance.context->has_completions() &&
                  std::any_of(turn.visits.begin(), turn.visits.end(),
                              [&](const PollTurn::Visit& visit) { return visit.lock == &lock_of(instance); });
         });
}

} // namespace contend
