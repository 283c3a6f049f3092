// Which core: where threads begin, wake up, and are moved to.
#include "core/decay.hpp"
#include "core/scheduler_parts.hpp"

#include <algorithm>
#include <cmath>

namespace contend {

/// Brings a core's average load up to now, which forgets half in LOAD_AVG_PERIOD of Linux (kernel/sched/pelt.c); to be called
/// before its queue changes.
void Scheduler::note_load(Core& core) {
  if (!grouped_) {
    return;
  }
  constexpr double mean_life_s = 32e-3 / 0.69314718055994531; // half of it is forgotten in 32 ms
  const double forgotten = decayed((now() - core.load_noted).in_seconds() / mean_life_s);
  core.load += (core.queue->load() - core.load) * forgotten;
  core.load_noted = now();
}

void Scheduler::enqueue(Core& core, Task& task, FairQueue::Arrival arrival) {
  if (core.current != nullptr) {
    account(core);
  }
  note_load(core);
  core.queue->add(task, arrival);
  task.core = &core;
  if (core.current != nullptr && task.allowed.count() > 1) {
    arm_balancing();
  }
}

/// An alarm: what a thread waits for has come.
void Scheduler::woken(Task& task) {
  if (task.state != Task::State::asleep) {
    resume(task.thread);
    return;
  }
  ++counters_.wakeups;
  charge(task.thread, task.since, now() - task.since, task.category);
  task.activity = Task::Activity::acting;
  task.since = now();
  task.slept = now() - task.ran_until;
  Core& core = core_for(task);
  if (core.current == nullptr) {
    enqueue(core, task, FairQueue::Arrival::woken);
    dispatch(core, task, task.latency);
    return;
  }
  task.state = Task::State::runnable;
  task.woken_here = task.waker_core == core.number;
  enqueue(core, task, FairQueue::Arrival::woken);
  const bool preempts = core.queue->preempts(task, FairQueue::Arrival::woken);
  const bool at_once = parameters_.preemption != "lazy" || parameters_.tick == Duration{} || task.woken_here ||
                       task.slept <= parameters_.short_sleep;
  if (preempts && at_once) {
    ask_for(core);
  } else {
    core.asked_lazily = core.asked_lazily || preempts;
    arm(core);
  }
}

/// Where a thread that wakes up goes: an idle core if there is one, its last one first, then near ones; else its last one, or
/// sometimes the waker's (select_task_rq_fair()). Linux compares averages of load over some 30 ms for that, which are about
/// equal for cores that are crowded; lengths of queues at this moment, which would sort threads by process, are not what it
/// sees. Hence a coin (wake()).
Scheduler::Core& Scheduler::core_for(const Task& task) {
  Core& last = *task.core;
  if (last.current == nullptr) {
    return last;
  }
  Core* nearest = nullptr;
  for (const auto& core : cores_) {
    if (core->current == nullptr && task.allowed.test(static_cast<std::size_t>(core->number)) &&
        (nearest == nullptr ||
         host_.transfer(last.number, core->number) < host_.transfer(last.number, nearest->number))) {
      nearest = core.get();
    }
  }
  if (nearest != nullptr) {
    return *nearest;
  }
  const auto waker = static_cast<std::size_t>(task.waker_core);
  const bool may = task.waker_core >= 0 && waker < cores_.size() && task.allowed.test(waker);
  return may && task.to_waker ? *cores_[waker] : last;
}

Scheduler::Core& Scheduler::shortest_queue(const CoreSet& allowed) {
  Core* shortest = nullptr;
  for (const auto& core : cores_) {
    if (allowed.test(static_cast<std::size_t>(core->number)) &&
        (shortest == nullptr || core->queue->length() < shortest->queue->length())) {
      shortest = core.get();
    }
  }
  return *shortest;
}

/// Who could go: the one that has waited longest.
Scheduler::Task* Scheduler::candidate(const Core& from, const Core& to, bool hot_ones_too) const {
  Task* oldest = nullptr;
  for (FairEntity* const entity : from.queue->waiting()) {
    auto& task = static_cast<Task&>(*entity);
    const bool hot = task.ran_on != nullptr && now() - task.ran_until < parameters_.cache_hot;
    if (task.allowed.test(static_cast<std::size_t>(to.number)) && (hot_ones_too || !hot) &&
        (oldest == nullptr || task.since < oldest->since)) {
      oldest = &task;
    }
  }
  return oldest;
}

/// An idle core takes a thread from the longest queue that has one for it. Returns whether it found one.
bool Scheduler::pull(Core& core, bool hot_ones_too) {
  Core* from = nullptr;
  Task* task = nullptr;
  for (const auto& other : cores_) {
    if (other.get() == &core || (from != nullptr && other->queue->length() <= from->queue->length())) {
      continue;
    }
    if (Task* const found = candidate(*other, core, hot_ones_too); found != nullptr) {
      from = other.get();
      task = found;
    }
  }
  if (task == nullptr) {
    return false;
  }
  move(*from, core, *task);
  return true;
}

void Scheduler::move(Core& from, Core& to, Task& task) {
  if (from.current != nullptr) {
    account(from);
  }
  note_load(from);
  from.queue->remove(task);
  enqueue(to, task, FairQueue::Arrival::migrated);
}

void Scheduler::arm_balancing() {
  if (parameters_.balance_period > Duration{}) {
    const std::int64_t periods = now().since_start() / parameters_.balance_period;
    balancing_->at(TimePoint::at(parameters_.balance_period * (periods + 1)));
  }
}

/// Idle cores take a thread, however warm its caches are elsewhere; then the queues are made more alike.
void Scheduler::balance() {
  if (!alive()) {
    return;
  }
  for (const auto& core : cores_) {
    if (core->current == nullptr && pull(*core, true)) {
      dispatch(*core, static_cast<Task&>(*core->queue->best()), {});
    }
  }
  for (std::size_t moves = 0; moves < cores_.size(); ++moves) {
    if (!(grouped_ ? balance_loads() : balance_lengths())) {
      break;
    }
  }
  const bool crowd = std::any_of(tasks_.begin(), tasks_.end(), [](const auto& task) {
    return task && task->state == Task::State::runnable && task->allowed.count() > 1;
  });
  if (crowd) {
    arm_balancing();
  }
}

/// The longest queue gives a thread to the shortest while it has two more.
bool Scheduler::balance_lengths() {
  Core* from = nullptr;
  Core* to = nullptr;
  Task* task = nullptr;
  std::size_t difference = 1;
  for (const auto& longer : cores_) {
    for (const auto& shorter : cores_) {
      if (longer->queue->length() <= shorter->queue->length() + difference) {
        continue;
      }
      if (Task* const found = candidate(*longer, *shorter, true); found != nullptr) {
        difference = longer->queue->length() - shorter->queue->length();
        from = longer.get();
        to = shorter.get();
        task = found;
      }
    }
  }
  if (task == nullptr) {
    return false;
  }
  move_to_busy(*from, *to, *task);
  return true;
}

/// The most loaded core gives a thread to the least loaded one if that makes them more alike (sched_balance_rq(),
/// detach_tasks()); what a thread may be too large by doubles with each attempt that found none.
bool Scheduler::balance_loads() {
  constexpr double tolerated = 1.17; // sd->imbalance_pct of cores that share a cache
  constexpr int patience = 2;        // sd->cache_nice_tries + 1: then a warm cache does not matter
  Core* from = nullptr;
  Core* to = nullptr;
  for (const auto& core : cores_) {
    note_load(*core);
    from = from == nullptr || core->load > from->load ? core.get() : from;
    to = to == nullptr || core->load < to->load ? core.get() : to;
  }
  if (to->current == nullptr || from->load <= tolerated * to->load) {
    to->failed_balances = 0;
    return false;
  }
  Task* const task = candidate(*from, *to, to->failed_balances >= patience);
  const double room = std::ldexp((from->load - to->load) / 2, std::min(to->failed_balances, patience + 2));
  if (task == nullptr || from->queue->load_of(*task) > room) {
    ++to->failed_balances;
    return false;
  }
  const double load = from->queue->load_of(*task);
  to->failed_balances = 0;
  move_to_busy(*from, *to, *task);
  from->load -= load; // its average goes with it
  to->load += load;
  return true;
}

void Scheduler::move_to_busy(Core& from, Core& to, Task& task) {
  move(from, to, task);
  if (to.current == nullptr) { // a move before has let its thread go to another core
    dispatch(to, task, {});
  } else if (to.queue->preempts(task, FairQueue::Arrival::migrated)) {
    ask_for(to);
  } else {
    arm(to);
  }
}

} // namespace contend
