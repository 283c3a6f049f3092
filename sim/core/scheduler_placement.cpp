// Which core: where threads begin, wake up, and are taken to by idle cores.
#include "core/scheduler_parts.hpp"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>
#include <vector>

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

/// Where a thread begins: domain by domain, from the host inwards, in the group with the fewest threads for its cores
/// (find_idlest_group(), find_idlest_cpu()).
Scheduler::Core& Scheduler::idlest_core(const CoreSet& allowed) {
  const auto crowd = [](const Core& core) {
    std::vector<double> by_level; // outermost first, the core itself last
    for (const Look& look : std::ranges::reverse_view(core.looks)) {
      const std::vector<Core*>& group = look.domain->groups[look.group];
      const auto threads = std::accumulate(group.begin(), group.end(), std::size_t{0},
                                           [](std::size_t sum, const Core* one) { return sum + one->queue->length(); });
      by_level.push_back(static_cast<double>(threads) / static_cast<double>(group.size()));
    }
    by_level.push_back(static_cast<double>(core.queue->length()));
    return by_level;
  };
  Core* idlest = nullptr;
  std::vector<double> least;
  for (const auto& core : cores_) {
    if (!allowed.test(static_cast<std::size_t>(core->number))) {
      continue;
    }
    if (std::vector<double> here = crowd(*core); idlest == nullptr || here < least) {
      idlest = core.get();
      least = std::move(here);
    }
  }
  return *idlest;
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

} // namespace contend
