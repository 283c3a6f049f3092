// What a thread does with its core: it computes, waits, is resumed, gives way, ends.
#include "core/scheduler_parts.hpp"

#include <algorithm>
#include <utility>

namespace contend {

void Scheduler::advance(SimThread& self, Duration owed, Duration span, Category category) {
  if (giving_up() || advance_alone(self, owed, span, category)) {
    return;
  }
  settle(self, owed);
  if (span == Duration{}) {
    pass(self, span); // others that are due now go first
    return;
  }
  Task& task = task_of(self);
  if (task.passed > Duration{}) [[unlikely]] {
    const Duration left = still_to_pass(task, span);
    charge(self, now() - (span - left), span - left, category);
    span = left;
    if (span == Duration{}) {
      return;
    }
  }
  const TimePoint start = now();
  if (pass_alone(self, span)) {
    charge(self, start, span, category);
    return;
  }
  task.activity = Task::Activity::computing;
  task.category = category;
  task.since = start;
  task.left = span;
  task.step.at(start + span);
  park(self);
}

/// Most of what a thread does is over before anything else happens: then there is nothing to decide.
bool Scheduler::advance_alone(SimThread& self, Duration owed, Duration span, Category category) {
  Task& task = task_of(self);
  const bool disturbed = task.passed > Duration{} || task.stolen != Duration{} || task.core->asked;
  if (disturbed || giving_up() || !alone_for(owed + span)) {
    return false;
  }
  if (owed != Duration{}) {
    note_span(task, owed);
    pass_alone(self, owed);
  }
  const TimePoint start = now();
  pass_alone(self, span);
  charge(self, start, span, category);
  return true;
}

/// It is about to have `owed`, in which nobody can take its core away.
void Scheduler::note_span(const Task& task, Duration owed) const {
  if (task.spans != nullptr) [[unlikely]] {
    const Duration begin = now() - task.spans_origin;
    task.spans->push_back({begin, begin + owed});
  }
}

void Scheduler::settle(SimThread& self, Duration owed) {
  if (giving_up()) {
    return;
  }
  Task& task = task_of(self);
  if (owed != Duration{}) {
    note_span(task, owed);
  }
  if (task.passed > Duration{}) [[unlikely]] {
    owed = still_to_pass(task, owed);
    if (owed == Duration{}) {
      return; // what came after it has passed as well
    }
  }
  if (owed != Duration{}) {
    pass(self, owed);
  }
  while (task.stolen != Duration{}) {
    const Duration stolen = std::exchange(task.stolen, {});
    charge(self, now(), stolen, Category::context_switch);
    pass(self, stolen);
  }
  give_way_if_asked(self);
}

void Scheduler::give_way_if_asked(SimThread& self) {
  if (giving_up()) {
    return;
  }
  Task& task = task_of(self);
  task.passed = {}; // what is run again goes another way than before: a line that was at hand has to be fetched
  while (task.core->asked && !task.keeps_core) { // somebody may ask at the very moment at which it has a core again
    give_way(task);
  }
}

void Scheduler::disable_preemption(SimThread& self) {
  if (!giving_up()) {
    task_of(self).keeps_core = true;
  }
}

void Scheduler::enable_preemption(SimThread& self) {
  if (giving_up()) {
    return;
  }
  task_of(self).keeps_core = false;
  give_way_if_asked(self);
}

void Scheduler::leaves_kernel(SimThread& self) {
  if (giving_up()) {
    return;
  }
  Task& task = task_of(self);
  if (!task.core->asked_lazily || task.passed > Duration{}) {
    return;
  }
  self.settle();
  if (task.core->asked_lazily) {
    give_way(task);
  }
}

void Scheduler::wait(SimThread& self, Waiting how, Category category) {
  if (giving_up()) {
    return;
  }
  Task& task = task_of(self);
  if (how == Waiting::spinning) { // from here on it looks at nothing but what it waits for
    give_way_if_asked(self);
  }
  if (std::exchange(task.resumed, false)) {
    make_ready(self); // after everything already due now
    park(self);
    return;
  }
  task.category = category;
  task.since = now();
  if (how != Waiting::asleep) {
    task.activity = how == Waiting::spinning ? Task::Activity::spinning : Task::Activity::stalled;
    if (task.core->asked_lazily) {
      end_repetition(task);
    }
    park(self);
    return;
  }
  task.ran_until = now();
  task.state = Task::State::asleep;
  self.count_voluntary_switch();
  note_load(task, true);
  free_core(task);
  park(self);
}

void Scheduler::resume(SimThread& thread) {
  if (giving_up()) {
    return;
  }
  Task& task = task_of(thread);
  if (task.state == Task::State::asleep) {
    task.waker_core = -1;
    task.latency = {};
    woken(task);
    return;
  }
  const bool waits = task.activity == Task::Activity::spinning || task.activity == Task::Activity::stalled;
  if (!waits || task.state == Task::State::runnable) {
    task.resumed = true; // it sees that when it looks
  } else if (now() < task.since) {
    task.resumed = true; // as soon as it is on its core
    task.step.at(task.since);
  } else {
    charge(thread, task.since, now() - task.since, task.category);
    task.activity = Task::Activity::acting;
    make_ready(thread);
  }
}

void Scheduler::resume_at(SimThread& thread, TimePoint time) {
  if (giving_up()) {
    return;
  }
  if (time == now()) {
    resume(thread);
    return;
  }
  Task& task = task_of(thread);
  task.waker_core = -1;
  task.latency = {};
  task.alarm.at(time);
}

void Scheduler::wake(SimThread& thread, const SimThread& waker, TimePoint runnable, Duration latency) {
  if (giving_up()) {
    return;
  }
  Task& task = task_of(thread);
  task.waker_core = waker.host() == number_ ? waker.core() : -1;
  task.to_waker = parameters_.waker_affinity > 0.0 && placement_.uniform() < parameters_.waker_affinity;
  task.latency = latency;
  task.alarm.at(runnable);
}

/// The dear part is the interrupt of another core. The waker pays for it if that core idles, or if its queue says that the
/// sleeper would probably take it, which queues of cfs never say; else that core is taken to see its queue in time.
Duration Scheduler::wake_call(const SimThread& thread, const SimThread& waker, Duration interrupting) {
  Task& task = task_of(thread);
  task.waker_core = waker.host() == number_ ? waker.core() : -1;
  task.to_waker = false;
  const Core& core = core_for(task);
  if (core.number == task.waker_core) {
    return parameters_.wake_call;
  }
  task.slept = now() - task.ran_until;
  return core.current == nullptr || core.queue->would_preempt(task) ? interrupting : parameters_.wake_call;
}

bool Scheduler::has_core(const SimThread& thread) const { return task_of(thread).state == Task::State::running; }

void Scheduler::yield(SimThread& self) {
  if (giving_up()) {
    return;
  }
  give_way_if_asked(self);
  ++counters_.yields;
  Task& task = task_of(self);
  Core& core = *task.core;
  if (core.queue->waiting().empty()) {
    return;
  }
  account(core);
  core.queue->yielded();
  auto& next = static_cast<Task&>(*core.queue->best());
  core.asked = core.asked_lazily = false;
  if (&next == &task) {
    core.queue->run(task);
    return;
  }
  lose_core(task);
  dispatch(core, next, {});
  park(self);
}

/// It does not want its core any more.
void Scheduler::free_core(Task& task) {
  Core& core = *task.core;
  account(core);
  note_load(core);
  if (task.state == Task::State::ended) {
    core.queue->end();
  } else {
    core.queue->leave();
  }
  core.current = nullptr;
  dispatch_next(core);
}

void Scheduler::ended(SimThread& self) {
  if (giving_up()) {
    return;
  }
  Task& task = task_of(self);
  task.state = Task::State::ended;
  free_core(task);
}

bool Scheduler::has_work() const {
  return std::any_of(tasks_.begin(), tasks_.end(), [](const auto& task) {
    return task && task->state == Task::State::runnable &&
           (task->activity != Task::Activity::spinning || task->resumed);
  });
}

/// What it did since its time was charged last. What it will run again is charged then.
void Scheduler::charge_step(Task& task) const {
  if (!task.place || task.place->passed == Duration{}) {
    charge(task.thread, task.since, now() - task.since, task.category);
  }
}

/// It has had what it computed, or is on its core and can go on with its own code.
void Scheduler::finish_step(Task& task) {
  if (task.activity == Task::Activity::computing || task.activity == Task::Activity::settling) {
    charge_step(task);
  }
  if (task.place) {
    task.since = now();
    if (!leave_span(task, *task.place)) {
      return;
    }
    if (task.place->at < task.place->goal) {
      go_on(task, *task.place);
      return;
    }
    task.passed = task.place->passed;
    task.place.reset();
  }
  if (task.activity == Task::Activity::spinning) {
    task.resumed = false; // else the wait that it is for is still to come
  }
  task.left = {};
  task.activity = Task::Activity::acting;
  make_ready(task.thread);
}

bool Scheduler::interruptible(const Task& task) {
  return !task.keeps_core && (task.activity == Task::Activity::computing || task.activity == Task::Activity::spinning);
}

/// Stops what it does in the middle.
void Scheduler::interrupt(Task& task) {
  charge_step(task);
  if (task.activity == Task::Activity::computing) {
    task.left -= now() - task.since;
  }
  task.step.cancel();
  task.since = now();
}

void Scheduler::lose_core(Task& task) {
  Core& core = *task.core;
  core.queue->stop();
  core.current = nullptr;
  task.state = Task::State::runnable;
  task.thread.count_involuntary_switch();
  task.since = now();
  task.ran_until = now();
  if (task.allowed.count() > 1) {
    arm_balancing();
  }
}

/// The timer's interrupt takes its time from whoever runs.
void Scheduler::take_tick(Task& task) {
  end_repetition(task);
  const Duration cost = task.thread.on_its_core(parameters_.tick_cost);
  if (!interruptible(task)) {
    task.stolen += cost;
    return;
  }
  const bool step_pending = task.step.pending();
  if (now() >= task.since) {
    interrupt(task);
  }
  charge(task.thread, task.since, cost, Category::context_switch);
  task.since += cost;
  if (step_pending) {
    task.step.at(task.since + (task.activity == Task::Activity::computing ? task.left : Duration{}));
  }
}

} // namespace contend
