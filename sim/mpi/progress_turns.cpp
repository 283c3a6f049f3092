#include "mpi/progress_turns.hpp"

#include "core/trace_scope.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace contend {

namespace {

/// Somebody else is at the lock, be it a resting thread.
bool in_use(Lock& lock) {
  lock.disturb_visitor();
  return !lock.quiet();
}

/// With one lock around every call an interface has none of its own to take.
bool polls_other(const ProcessContext& process, std::string_view when) {
  return process.global_lock() == nullptr && process.library().progress.other_interface == when;
}

} // namespace

ProgressTurns::ProgressTurns(ProcessContext& process, Instances& instances, CompletionHandler& handler)
    : process_(process), instances_(instances), handler_(handler),
      handles_unlocked_(process.library().transport.handler_lock == "none"),
      polls_until_empty_(process.library().progress.polls_until_empty),
      polls_other_before_(polls_other(process, "before")), polls_other_after_(polls_other(process, "after")),
      next_target_line_(process.engine(), process.host(), process.name() + "/next instance to poll") {
  idles_.push_back(make_idle());
  free_idles_.push_back(idles_.back().get());
}

std::unique_ptr<IdlePoll> ProgressTurns::make_idle() {
  return std::make_unique<IdlePoll>(process_.engine(), process_.settings().coalesce_idle_polls, process_.name(),
                                    observer());
}

Poller& ProgressTurns::add_poller(std::size_t thread) {
  if (pollers_.size() <= thread) {
    pollers_.resize(thread + 1);
  }
  pollers_[thread] = std::make_unique<Poller>();
  return *pollers_[thread];
}

IdlePoll& ProgressTurns::idle_of(Poller& poller) {
  if (poller.idle == nullptr) {
    if (free_idles_.empty()) {
      idles_.push_back(make_idle());
      free_idles_.push_back(idles_.back().get());
    }
    poller.idle = free_idles_.back();
    free_idles_.pop_back();
  }
  return *poller.idle;
}

void ProgressTurns::stop(SimThread& self) {
  self.note_uninterrupted(nullptr);
  const auto id = static_cast<std::size_t>(self.id());
  if (id < pollers_.size() && pollers_[id] && pollers_[id]->idle != nullptr) {
    free_idles_.push_back(std::exchange(pollers_[id]->idle, nullptr));
  }
}

void ProgressTurns::begin_turn(SimThread& self, Noise noise) {
  TraceScope::open(self, process_.rank(), "progress");
  Poller& poller = poller_of(self);
  Lock* const global_lock = process_.global_lock();
  poller.polls = 0;
  poller.drew = false;
  poller.found = 0;
  if (poller.resuming) {
    poller.turn.undisturbed = false;
    if (global_lock != nullptr && !poller.resumption.looking) {
      global_lock->lock(self, Category::poll_idle);
    }
    return;
  }
  poller.turn_start = self.now();
  poller.turn.start(self);
  poller.turn.uninterrupted.clear();
  self.note_uninterrupted(&poller.turn.uninterrupted);
  self.owe(process_.settings().software.progress_call + (noise == Noise::always ? process_.jitter() : Duration{}),
           Category::poll_idle);
  if (global_lock != nullptr) {
    poller.lock_at = self.now() - poller.turn_start;
    if (!poller.in_section) {
      poller.disturb_if(in_use(*global_lock));
      global_lock->lock(self, Category::poll_idle);
    }
  }
}

int ProgressTurns::poll_interface(SimThread& self, int target, IfHeld if_held) {
  Poller& poller = poller_of(self);
  if (poller.passed()) {
    return 0;
  }
  Instance& instance = instances_[target];
  const bool has_global_lock = process_.global_lock() != nullptr;
  if (poller.take_looking()) {
    if (has_global_lock) {
      instance.lock->lock(self); // what has been granted is the global lock
    }
    if (poller.resumption.leaving) {
      instance.lock->unlock(self, Category::poll_idle);
      return 0;
    }
    instance.context->end_skipped_look(self);
    const int found = handle_and_unlock(self, instance);
    poller.disturb_if(found > 0);
    poller.found += found;
    return found;
  }
  // Under the global lock a turn never tries again: it has the lock from one look to the next.
  const Duration try_at = !has_global_lock             ? self.now() - poller.turn_start
                          : poller.turn.visits.empty() ? poller.lock_at
                                                       : poller.turn.visits.back().done_at;
  if (!take(self, *instance.lock, if_held)) {
    return 0;
  }
  const bool keeps_lock = has_global_lock && !poller.turn.visits.empty();
  const Duration begin_at = self.now() - poller.turn_start;
  poller.disturb_if(instance.context->next_look_is_longer());
  instance.context->look(self);
  const Duration look_at = process_.engine().now() - poller.turn_start;
  poller.turn.visits.push_back({&instances_.lock_of(instance), try_at, look_at, look_at, target, begin_at,
                                std::exchange(poller.drew, false), keeps_lock});
  const int found = handle_and_unlock(self, instance);
  poller.disturb_if(found > 0);
  poller.turn.visits.back().done_at = self.now() - poller.turn_start;
  poller.found += found;
  return found;
}

int ProgressTurns::poll(SimThread& self, int target, IfHeld if_held) {
  if (polls_other_before_) {
    poll_other_interface(self, target, if_held);
  }
  const int found = poll_interface(self, target, if_held);
  if (polls_other_after_ && found == 0) {
    poll_other_interface(self, target, if_held);
  }
  return found;
}

/// The other device's interface, through which nothing comes: all it costs is the lock.
void ProgressTurns::poll_other_interface(SimThread& self, int target, IfHeld if_held) {
  Poller& poller = poller_of(self);
  if (poller.passed()) {
    return;
  }
  Lock& lock = *instances_[target].lock;
  if (poller.take_looking()) { // a skipped look that goes on: it has seen nothing
    lock.unlock(self, Category::poll_idle);
    return;
  }
  const Duration try_at = self.now() - poller.turn_start;
  if (!take(self, lock, if_held)) {
    return;
  }
  const Duration look_at = self.now() - poller.turn_start;
  poller.turn.visits.push_back(
      {&lock, try_at, look_at, look_at, target, look_at, std::exchange(poller.drew, false), false});
  lock.unlock(self, Category::poll_idle);
  poller.turn.visits.back().done_at = self.now() - poller.turn_start;
}

/// Takes the lock of what is polled. Returns false, without it, where somebody else has it and nobody is to wait.
bool ProgressTurns::take(SimThread& self, Lock& lock, IfHeld if_held) {
  Poller& poller = poller_of(self);
  if (if_held == IfHeld::wait) {
    poller.disturb_if(in_use(lock));
    lock.lock(self, Category::poll_idle);
    return true;
  }
  const bool taken = lock.try_lock(self, Category::poll_idle);
  poller.disturb_if(!taken);
  return taken;
}

/// Handles what a look has shown at an instance whose lock is held.
int ProgressTurns::handle_and_unlock(SimThread& self, Instance& instance) {
  int done = 0;
  if (!handles_unlocked_) {
    done = instance.context->drain(self, handler_);
    for (int found = done; polls_until_empty_ && found > 0; done += found) {
      instance.context->look(self);
      found = instance.context->drain(self, handler_);
    }
  }
  if (interface_work_ != nullptr) {
    done += interface_work_->run(self, instances_.number_of(instance));
  }
  if (handles_unlocked_) {
    return done + instance.context->drain_unlocked(self, handler_, *instance.lock);
  }
  instance.lock->unlock(self, Category::poll_idle);
  return done;
}

int ProgressTurns::take_commands(SimThread& self) {
  Poller& poller = poller_of(self);
  if (poller.passed()) {
    return 0;
  }
  if (!poller.take_looking()) {
    const Duration try_at = self.now() - poller.turn_start;
    commands_->look(self, Category::poll_idle);
    const Duration look_at = process_.engine().now() - poller.turn_start;
    poller.turn.visits.push_back({nullptr, try_at, look_at, look_at});
  }
  int taken = 0;
  // Not more than the queue holds, or busy threads would keep this one from polling.
  for (const auto most = static_cast<int>(commands_->slots()); taken < most && commands_->ready(); ++taken) {
    command_handler_->carry_out(self, commands_->take(self, Category::line_transfer));
    commands_->look(self, Category::poll_idle);
  }
  poller.disturb_if(taken > 0);
  poller.found += taken;
  return taken;
}

int ProgressTurns::end_turn(SimThread& self) {
  Poller& poller = poller_of(self);
  Lock* const global_lock = process_.global_lock();
  poller.resuming = false;
  int found = 0;
  for (EndOfTurnWork* const work : works_) {
    if (work->may_go()) {
      poller.disturb_if(true);
      found += work->run(self);
    }
  }
  if (global_lock != nullptr && !poller.in_section) {
    global_lock->unlock(self, Category::poll_idle);
  }
  poller.turn.period = self.now() - poller.turn_start;
  if (global_lock != nullptr && !poller.turn.visits.empty()) {
    poller.turn.visits.back().done_at = poller.turn.period;
  }
  if (poller.found + found > 0) { // nobody rests after that
    self.note_uninterrupted(nullptr);
  }
  TraceScope::close(self);
  const ProgressDesign& design = process_.library().progress;
  const bool yields =
      (design.yield_every_turn && !poller.testing) || (design.yield_when_idle && poller.found + found == 0);
  if (yields && !poller.keeps_core && !poller.in_section) { // nobody yields the core and keeps the section
    yield(self);
  }
  return found;
}

std::span<const int> ProgressTurns::own_targets(SimThread& self, SyncObject& sync) {
  if (!instances_.mapping().decides()) {
    sync.targets.assign(1, instances_.polled_first_by(self));
  }
  return sync.targets;
}

int ProgressTurns::next_target(SimThread& self) {
  if (targets() == 1) {
    return 0;
  }
  Poller& poller = poller_of(self);
  if (poller.passing() && poller.polls < poller.turn.visits.size()) {
    return poller.turn.visits[poller.polls].target; // which others may have drawn from since
  }
  // The study's algorithm counts on everybody's turn to come.
  process_.update_shared(self, next_target_line_, Category::poll_idle);
  poller.drew = true;
  return static_cast<int>(next_target_++ % static_cast<unsigned>(targets()));
}

/// sched_yield(). Where the thread has its core to itself, the system call is all there is to it.
void ProgressTurns::yield(SimThread& self) const {
  self.owe(process_.host().futex().yield_call, Category::poll_idle);
  self.yield();
}

ProgressSource::Rest ProgressTurns::rest(SimThread& self, std::int64_t limit) {
  self.settle();
  self.preemption_point();
  self.note_uninterrupted(nullptr);
  Poller& poller = poller_of(self);
  const IdlePoll::Resumption resumption =
      rest_through(self, poller.turn, poller.last_turn, nothing_in_sight(poller.turn), limit);
  poller.resumption = resumption;
  poller.resuming = resumption.inside;
  if (process_.global_lock() == nullptr && !resumption.inside && resumption.turns > 0 && end_has_work()) {
    // The last skipped turn would have found it at its end. (One that gives the global lock back has looked for it before.)
    poller.resuming = true;
    poller.resumption.visit = poller.turn.visits.size();
    poller.resumption.looking = false;
    return {resumption.turns - 1, true};
  }
  return {resumption.turns, resumption.inside};
}

/// A turn that goes on in its middle has drawn these targets before anybody who draws from now on. Whole turns draw each as often.
void ProgressTurns::interrupted(const PollTurn& turn, std::size_t visit) {
  for (std::size_t i = 0; i <= visit && i < turn.visits.size(); ++i) {
    next_target_ += turn.visits[i].drawn ? 1 : 0;
  }
}

void ProgressTurns::end_rests() {
  for (const auto& idle : idles_) {
    idle->disturb();
  }
}

void ProgressTurns::end_rest_of(const SyncObject& sync) {
  const auto id = static_cast<std::size_t>(sync.waiter);
  if (id < pollers_.size() && pollers_[id] && pollers_[id]->idle != nullptr) {
    pollers_[id]->idle->disturb();
  }
}

bool ProgressTurns::end_has_work() const {
  return std::any_of(works_.begin(), works_.end(), [](const EndOfTurnWork* work) { return work->may_go(); });
}

bool ProgressTurns::nothing_in_sight(const PollTurn& turn) const {
  const auto has_work = [&](const Instance& instance) {
    return instance.context->has_completions() ||
           (interface_work_ != nullptr && interface_work_->waiting_at(instances_.number_of(instance)));
  };
  return !end_has_work() && (commands_ == nullptr || commands_->quiet()) &&
         std::none_of(instances_.begin(), instances_.end(), [&](const Instance& instance) {
           return has_work(instance) &&
                  std::any_of(turn.visits.begin(), turn.visits.end(), [&](const PollTurn::Visit& visit) {
                    return visit.lock == &instances_.lock_of(instance);
                  });
         });
}

} // namespace contend
