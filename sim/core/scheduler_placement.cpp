// Which core: where threads wake up, and which of them can go to another one.
#include "core/scheduler_parts.hpp"

#include <algorithm>
#include <utility>

namespace contend {

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
  note_load(task, false);
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
    if (preempts) {
      core.asked_lazily = true;
      end_repetition(*core.current); // what it does next may be a call of the kernel
    }
    arm(core);
  }
}

/// Where a thread that wakes up goes: an idle core if it finds one, its last one first, then near ones; else its last one or the
/// waker's (select_task_rq_fair()).
Scheduler::Core& Scheduler::core_for(const Task& task) {
  Core& last = *task.core;
  if (last.current == nullptr) {
    return last;
  }
  Core* nearest = nullptr;
  const bool looks = looks_for_idle_cores();
  for (const auto& core : cores_) {
    if (looks && core->current == nullptr && task.allowed.test(static_cast<std::size_t>(core->number)) &&
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
  return may && is_drawn_to(*cores_[waker], last, task) ? *cores_[waker] : last;
}

/// Whether a thread goes to its waker's core rather than to its last one, where neither idles. Under eevdf the waker's core must
/// have less load with the thread than the last one has without it, of averages over some 30 ms (wake_affine_weight()). Where
/// groups compete, what a sleeping thread is of its group's load is not known here, and under cfs (whose profiles have no
/// share) it was not looked into: there it is a coin (wake()).
bool Scheduler::is_drawn_to(Core& waker, Core& last, const Task& task) {
  if (parameters_.policy != "eevdf" || grouped_) {
    return task.to_waker;
  }
  constexpr double dearer = 1.08; // half of what imbalance_pct is over 100
  note_load(waker);
  note_load(last);
  return &waker != &last && waker.load + task.load < (last.load - task.load) * dearer;
}

/// Where cores are busy enough, nobody looks for one that idles (SIS_UTIL of select_idle_cpu(), Linux 5.19 on; here of eevdf, which
/// is newer): of n cores n (1 - (1.17 x)^2) are looked at, rounded down, where x is the share of them that is used, so that
/// with two cores none is from 60 % on, and with many none from 85 % (update_idle_cpu_scan()).
/// Linux does so for cores that share a cache; here all of a host are taken together.
bool Scheduler::looks_for_idle_cores() {
  if (parameters_.policy != "eevdf") {
    return true;
  }
  constexpr double overloaded = 1.17; // imbalance_pct of a domain of cores that share a cache
  double used = 0.0;
  for (const auto& core : cores_) {
    note_load(*core);
    used += core->utilisation;
  }
  const auto cores = static_cast<double>(cores_.size());
  const double share = overloaded * used / cores;
  return cores * (1.0 - share * share) >= 1.0;
}

/// Who could go: the one that has waited longest. Who was on a core within `cache_hot` stays there, unless looks have been in vain for long
/// (can_migrate_task(), task_hot()); who has not been on any can go.
Scheduler::Task* Scheduler::candidate(const Core& from, const Core& to, const Look& look) const {
  const bool insists = look.failed > look.domain->patience;
  Task* oldest = nullptr;
  for (FairEntity* const entity : from.queue->waiting()) {
    auto& task = static_cast<Task&>(*entity);
    const bool is_hot = task.ran_on != nullptr && now() - task.ran_until < parameters_.cache_hot;
    if (task.allowed.test(static_cast<std::size_t>(to.number)) && (insists || !is_hot) &&
        (oldest == nullptr || task.since < oldest->since)) {
      oldest = &task;
    }
  }
  return oldest;
}

void Scheduler::move(Core& from, Core& to, Task& task) {
  if (from.current != nullptr) {
    account(from);
  }
  note_load(from);
  from.queue->remove(task);
  enqueue(to, task, FairQueue::Arrival::migrated);
}

} // namespace contend
