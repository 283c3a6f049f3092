// Who has a core: the next thread of its queue, until its slice is over or somebody else precedes it.
#include "core/decay.hpp"
#include "core/scheduler_parts.hpp"

#include <algorithm>

namespace contend {

namespace {

constexpr std::int64_t cache_line_bytes = 64;

} // namespace

void Scheduler::account(Core& core) {
  core.queue->account(now() - core.accounted);
  core.accounted = now();
}

Duration Scheduler::switch_cost(const Core& core, const Task& task) {
  if (core.last == nullptr || core.last == &task) {
    return {};
  }
  const bool other_process = core.last->thread.process() != task.thread.process();
  return parameters_.context_switch + (other_process ? parameters_.process_switch : Duration{}) +
         jitter_.exponential(parameters_.switch_jitter);
}

/// How many other processes have had a core since this one had it last; it is the last one now.
int Scheduler::strangers_since(Core& core, int process) {
  const auto found = std::find(core.processes.begin(), core.processes.end(), process);
  const auto strangers = static_cast<int>(found - core.processes.begin());
  if (found == core.processes.end()) {
    core.processes.insert(core.processes.begin(), process);
  } else {
    std::rotate(core.processes.begin(), found, found + 1);
  }
  return strangers;
}

/// What `task` has to fetch again: its own lines after threads of its process; after `strangers` other processes also what
/// they have evicted of its process's lines, of which each takes the share that its own lines are of the cache (Thiebaut and
/// Stone, "Footprints in the cache", 1987, with random replacement); on another core all.
Duration Scheduler::refill(const Core& core, const Task& task, int strangers) const {
  const Duration away = now() - task.ran_until;
  const std::int64_t lines = parameters_.working_set_bytes / cache_line_bytes;
  if (lines == 0) {
    return std::min(parameters_.cache_refill, away);
  }
  const CacheParameters& cache = host_.cache();
  const double taken =
      strangers * static_cast<double>(parameters_.working_set_bytes) / static_cast<double>(cache.l2_bytes);
  const double evicted = task.ran_on == &core ? decayed(taken) : 1.0;
  const Duration miss = std::max(cache.l3_hit - cache.l2_hit, Duration{}); // a scenario may set them in any order
  const double line = static_cast<double>(miss.count()) / parameters_.refills_at_once;
  const auto fetched = Duration::picoseconds(static_cast<std::int64_t>(evicted * line * static_cast<double>(lines)));
  return std::min(parameters_.kin_refill + fetched, away);
}

/// `task`, which waits in the queue of `core`, gets the core. One that wakes up on an idle core takes `latency` to get there,
/// the switch included.
void Scheduler::dispatch(Core& core, Task& task, Duration latency) {
  const bool moved = task.ran_on != nullptr && task.ran_on != &core;
  const int strangers = strangers_since(core, task.thread.process());
  Duration cost = latency != Duration{} ? Duration{} : switch_cost(core, task);
  if (task.ran_on != nullptr && core.last != &task) {
    cost += refill(core, task, strangers);
  }
  if (task.ran_on != nullptr || task.state == Task::State::runnable) {
    task.thread.was_off_core(task.ran_on != nullptr ? task.ran_until : task.since, now() + latency);
  }
  if (paces_ != nullptr) {
    cost = paces_->on(core.number, cost);
  }
  counters_.switches += core.last != nullptr && core.last != &task ? 1 : 0;
  counters_.migrations += moved ? 1 : 0;
  const bool was_idle = core.is_idle;
  end_idle(core);
  core.queue->run(task);
  core.current = core.last = &task;
  if (was_idle) {
    look_anew(core);
  }
  core.accounted = now();
  core.asked = core.asked_lazily = false;
  if (task.state == Task::State::runnable) {
    charge(task.thread, task.since, now() - task.since, Category::run_queue);
  }
  charge(task.thread, now(), latency, task.category);
  charge(task.thread, now() + latency, cost, Category::context_switch);
  task.state = Task::State::running;
  task.since = now() + latency + cost;
  task.core = task.ran_on = &core;
  put_on_core(task.thread, core.number);
  if (task.activity != Task::Activity::spinning || task.resumed) {
    task.step.at(task.since + (task.activity == Task::Activity::computing ? task.left : Duration{}));
  }
  arm(core);
}

/// Nobody has the core any more.
void Scheduler::dispatch_next(Core& core) {
  if (FairEntity* const next = core.queue->best(); next != nullptr) {
    dispatch(core, static_cast<Task&>(*next), {});
  } else if (pull(core)) {
    dispatch(core, static_cast<Task&>(*core.queue->best()), {});
  } else {
    begin_idle(core);
    look_anew(core);
  }
}

/// The thread that has the core should let the queue choose again, now or as soon as it can.
void Scheduler::ask_for(Core& core) {
  end_repetition(*core.current);
  if (interruptible(*core.current) && now() >= core.current->since) {
    choose_again(core);
  } else {
    core.asked = true;
    arm(core);
  }
}

/// Who should have the core in place of the thread that has it; null: that one keeps it.
Scheduler::Task* Scheduler::successor(Core& core) {
  core.asked = core.asked_lazily = false;
  account(core);
  auto* const best = static_cast<Task*>(core.queue->best());
  if (best != core.current) {
    ++counters_.preemptions;
    return best;
  }
  core.queue->run(*best);
  arm(core);
  return nullptr;
}

void Scheduler::choose_again(Core& core) {
  if (Task* const next = successor(core); next != nullptr) {
    Task& task = *core.current;
    interrupt(task);
    lose_core(task);
    dispatch(core, *next, {});
  }
}

/// The same for a thread whose own code runs; returns when it has a core again.
void Scheduler::give_way(Task& task) {
  Core& core = *task.core;
  if (Task* const next = successor(core); next != nullptr) {
    lose_core(task);
    dispatch(core, *next, {});
    park(task.thread);
  }
}

/// Sees to it that the timer fires when there will be something to decide.
void Scheduler::arm(Core& core) {
  if (core.current == nullptr) {
    return;
  }
  const TimePoint start = std::max(now(), core.current->since);
  const bool noisy = parameters_.tick > Duration{} && parameters_.tick_cost > Duration{};
  const auto tick_after = [&](TimePoint time) {
    return TimePoint::at(parameters_.tick * (time.since_start() / parameters_.tick + 1));
  };
  if (noisy || core.asked_lazily) {
    core.timer.by(tick_after(now()));
  }
  if (core.asked) { // a thread that cannot be interrupted comes by itself
    if (interruptible(*core.current)) {
      core.timer.by(start);
    }
  } else if (!core.queue->waiting().empty()) {
    constexpr Duration shortest = Duration::picoseconds(1'000); // rounded weights must not make it stand still
    // Getting onto the core is a part of the slice, even if it takes all of it.
    const TimePoint end = std::max(start + shortest, core.accounted + std::max(core.queue->slice_left(), shortest));
    core.timer.by(parameters_.tick == Duration{} ? end : tick_after(end - Duration::picoseconds(1)));
  }
}

void Scheduler::timer(Core& core) {
  if (core.current == nullptr || !alive()) {
    return;
  }
  if (parameters_.tick > Duration{} && parameters_.tick_cost > Duration{} &&
      now().since_start() % parameters_.tick == Duration{}) {
    take_tick(*core.current);
  }
  account(core);
  if (core.asked || core.asked_lazily || core.queue->expired()) {
    ask_for(core);
  }
  arm(core);
}

} // namespace contend
