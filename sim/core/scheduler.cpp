#include "core/scheduler.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace contend {

/// Something that happens to a task at a date that may change: only the last date counts.
class Scheduler::TaskEvent final : public Event {
public:
  using Action = void (Scheduler::*)(Task&);

  TaskEvent(Scheduler& scheduler, Task& task, Action action)
      : Event(scheduler.engine_), scheduler_(scheduler), task_(task), action_(action) {}

  void at(TimePoint time) {
    due_ = time;
    scheduler_.engine_.schedule(*this, time);
  }
  void cancel() { due_ = TimePoint::never(); }
  [[nodiscard]] bool pending() const { return due_ != TimePoint::never(); }
  void fire() override {
    if (scheduler_.now() == due_) {
      cancel();
      (scheduler_.*action_)(task_);
    }
  }

private:
  Scheduler& scheduler_;
  Task& task_;
  Action action_;
  TimePoint due_ = TimePoint::never();
};

/// A thread, as its scheduler sees it.
struct Scheduler::Task : FairEntity {
  enum class State { running, runnable, asleep, ended };
  /// What it does when it has a core.
  enum class Activity {
    acting,    ///< its own code runs, or time passes that cannot be interrupted
    computing, ///< until `left` is used up
    spinning,  ///< until it is resumed
    stalled,   ///< until it is resumed, and nobody can take its core
  };

  Task(Scheduler& scheduler, SimThread& its_thread, const CoreSet& its_cores)
      : thread(its_thread), allowed(its_cores), step(scheduler, *this, &Scheduler::finish_step),
        alarm(scheduler, *this, &Scheduler::woken) {}

  SimThread& thread;
  CoreSet allowed;
  Core* core = nullptr;   ///< whose queue it is in, or was in last
  Core* ran_on = nullptr; ///< where its caches are warm
  State state = State::runnable;
  Activity activity = Activity::acting;
  Category category{};   ///< of the activity, or of its sleep
  TimePoint since;       ///< its time is charged up to here; lies ahead while it gets onto a core
  Duration left;         ///< computing
  Duration stolen;       ///< timer interrupts during what cannot be interrupted
  TimePoint ran_until;   ///< when it had a core last
  bool resumed = false;  ///< what it waits, or is about to wait for, has come
  Duration latency;      ///< of the idle core on which it wakes up
  int waker_core = -1;   ///< -1: not known
  bool to_waker = false; ///< it goes there if no core idles
  TaskEvent step;        ///< the end of computing, or of getting onto a core
  TaskEvent alarm;       ///< resume_at() and wake()
};

/// The interrupt at which a slice may end.
class Scheduler::CoreTimer final : public Event {
public:
  CoreTimer(Scheduler& scheduler, Core& core) : Event(scheduler.engine_), scheduler_(scheduler), core_(core) {}

  /// Fires then, or before: an earlier date stays.
  void by(TimePoint time) {
    if (time < due_) {
      due_ = time;
      scheduler_.schedule_background(*this, time);
    }
  }
  void fire() override {
    scheduler_.background_fired();
    if (scheduler_.now() == due_) {
      due_ = TimePoint::never();
      scheduler_.timer(core_);
    }
  }

private:
  Scheduler& scheduler_;
  Core& core_;
  TimePoint due_ = TimePoint::never();
};

struct Scheduler::Core {
  Core(Scheduler& scheduler, int its_number, std::unique_ptr<FairQueue> its_queue)
      : number(its_number), queue(std::move(its_queue)), timer(scheduler, *this) {}

  int number;
  std::unique_ptr<FairQueue> queue;
  Task* current = nullptr;
  Task* last = nullptr;      ///< who had it before, or has it
  bool asked = false;        ///< the current thread should give way as soon as it can
  bool asked_lazily = false; ///< when it returns from the kernel
  TimePoint accounted;       ///< the queue knows of the current thread's time up to here
  CoreTimer timer;
};

class Scheduler::Balancing final : public Event {
public:
  explicit Balancing(Scheduler& scheduler) : Event(scheduler.engine_), scheduler_(scheduler) {}
  void at(TimePoint time) {
    if (!armed_) {
      armed_ = true;
      scheduler_.schedule_background(*this, time);
    }
  }
  void fire() override {
    scheduler_.background_fired();
    armed_ = false;
    scheduler_.balance();
  }

private:
  Scheduler& scheduler_;
  bool armed_ = false;
};

Scheduler::Scheduler(Engine& engine, const Host& host, int number, const SchedulerParameters& parameters, int cores,
                     bool grouped)
    : CorePolicy(engine), host_(host), number_(number), parameters_(parameters),
      jitter_(engine.stream("host " + std::to_string(number) + "/scheduler")),
      placement_(engine.stream("host " + std::to_string(number) + "/scheduler/placement")) {
  if (cores < 1 || cores > host.topology().hardware_threads()) {
    throw std::invalid_argument("a scheduler shares between 1 and " +
                                std::to_string(host.topology().hardware_threads()) + " cores, not " +
                                std::to_string(cores));
  }
  if (parameters.slice <= Duration{}) {
    throw std::invalid_argument("the machine says nothing of its scheduler: it has no time slice");
  }
  const auto sizes = std::make_shared<GroupSizes>();
  for (int core = 0; core < cores; ++core) {
    auto queue = grouped ? std::unique_ptr<FairQueue>(std::make_unique<GroupedQueue>(parameters_, sizes))
                         : make_fair_queue(parameters_);
    cores_.push_back(std::make_unique<Core>(*this, core, std::move(queue)));
  }
  balancing_ = std::make_unique<Balancing>(*this);
}

Scheduler::~Scheduler() = default;

SimThread& Scheduler::spawn(std::string name, const Placement& placement, SimThread::Body body) {
  CoreSet allowed;
  for (std::size_t core = 0; core < cores_.size(); ++core) {
    allowed.set(core, placement.allowed.none() || placement.allowed.test(core));
  }
  if (allowed.none() || placement.weight < 1) {
    throw std::invalid_argument("thread '" + name + "' has no core to run on, or no weight");
  }
  const auto first = static_cast<std::size_t>(placement.first_core);
  const bool chosen = placement.first_core >= 0 && first < cores_.size() && allowed.test(first);
  Core& core = chosen ? *cores_[first] : shortest_queue(allowed);
  SimThread& thread = create_thread(std::move(name), number_, core.number, std::move(body), placement.daemon);
  const auto id = static_cast<std::size_t>(thread.id());
  if (tasks_.size() <= id) {
    tasks_.resize(id + 1);
  }
  tasks_[id] = std::make_unique<Task>(*this, thread, allowed);
  Task& task = *tasks_[id];
  task.weight = placement.weight;
  task.group = placement.group;
  task.since = now();
  enqueue(core, task, FairQueue::Arrival::started);
  if (core.current == nullptr) {
    dispatch_next(core);
  } else {
    arm(core);
  }
  return thread;
}

// What the thread that has a core does.

void Scheduler::advance(SimThread& self, Duration owed, Duration span, Category category) {
  if (giving_up()) {
    return;
  }
  settle(self, owed);
  if (span == Duration{}) {
    pass(self, span); // others that are due now go first
    return;
  }
  const TimePoint start = now();
  if (pass_alone(self, span)) {
    charge(self, start, span, category);
    return;
  }
  Task& task = task_of(self);
  task.activity = Task::Activity::computing;
  task.category = category;
  task.since = start;
  task.left = span;
  task.step.at(start + span);
  park(self);
}

void Scheduler::settle(SimThread& self, Duration owed) {
  if (giving_up()) {
    return;
  }
  if (owed != Duration{}) {
    pass(self, owed);
  }
  for (Task& task = task_of(self); task.stolen != Duration{};) {
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
  if (task.core->asked) {
    give_way(task);
  }
}

void Scheduler::leaves_kernel(SimThread& self) {
  if (giving_up()) {
    return;
  }
  Task& task = task_of(self);
  if (!task.core->asked_lazily) {
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
  if (how == Waiting::spinning && task.core->asked) {
    give_way(task);
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
    park(self);
    return;
  }
  Core& core = *task.core;
  account(core);
  core.queue->leave();
  core.current = nullptr;
  task.state = Task::State::asleep;
  task.ran_until = now();
  dispatch_next(core);
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

/// A core that idles, or must leave its thread, has to be told by an interrupt, which is the dear part; another one sees its
/// queue in time.
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

void Scheduler::ended(SimThread& self) {
  if (giving_up()) {
    return;
  }
  Task& task = task_of(self);
  Core& core = *task.core;
  account(core);
  core.queue->leave();
  core.current = nullptr;
  task.state = Task::State::ended;
  dispatch_next(core);
}

bool Scheduler::has_work() const {
  return std::any_of(tasks_.begin(), tasks_.end(), [](const auto& task) {
    return task && task->state == Task::State::runnable &&
           (task->activity != Task::Activity::spinning || task->resumed);
  });
}

/// It has had what it computed, or is on its core and can go on with its own code.
void Scheduler::finish_step(Task& task) {
  if (task.activity == Task::Activity::computing) {
    charge(task.thread, task.since, now() - task.since, task.category);
  }
  if (task.activity == Task::Activity::spinning) {
    task.resumed = false; // else the wait that it is for is still to come
  }
  task.left = {};
  task.activity = Task::Activity::acting;
  make_ready(task.thread);
}

bool Scheduler::interruptible(const Task& task) {
  return task.activity == Task::Activity::computing || task.activity == Task::Activity::spinning;
}

/// Stops what it does in the middle.
void Scheduler::interrupt(Task& task) {
  charge(task.thread, task.since, now() - task.since, task.category);
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
  task.since = now();
  task.ran_until = now();
  if (task.allowed.count() > 1) {
    arm_balancing();
  }
}

/// The timer's interrupt takes its time from whoever runs.
void Scheduler::take_tick(Task& task) {
  const Duration cost = parameters_.tick_cost;
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

// Who has a core.

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

/// `task`, which waits in the queue of `core`, gets the core. One that wakes up on an idle core takes `latency` to get there,
/// the switch included.
void Scheduler::dispatch(Core& core, Task& task, Duration latency) {
  const bool moved = task.ran_on != nullptr && task.ran_on != &core;
  Duration cost = latency != Duration{} ? Duration{} : switch_cost(core, task);
  if (task.ran_on != nullptr && core.last != &task) {
    cost += std::min(parameters_.cache_refill, now() - task.ran_until);
  }
  counters_.switches += core.last != nullptr && core.last != &task ? 1 : 0;
  counters_.migrations += moved ? 1 : 0;
  core.queue->run(task);
  core.current = core.last = &task;
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
  } else if (pull(core, false)) {
    dispatch(core, static_cast<Task&>(*core.queue->best()), {});
  }
}

/// The thread that has the core should let the queue choose again, now or as soon as it can.
void Scheduler::ask_for(Core& core) {
  if (interruptible(*core.current) && now() >= core.current->since) {
    choose_again(core);
  } else {
    core.asked = true;
    arm(core);
  }
}

void Scheduler::choose_again(Core& core) {
  Task& task = *core.current;
  core.asked = core.asked_lazily = false;
  account(core);
  auto& next = static_cast<Task&>(*core.queue->best());
  if (&next == &task) {
    core.queue->run(task);
    arm(core);
    return;
  }
  interrupt(task);
  ++counters_.preemptions;
  lose_core(task);
  dispatch(core, next, {});
}

/// The same for a thread whose own code runs; returns when it has a core again.
void Scheduler::give_way(Task& task) {
  Core& core = *task.core;
  core.asked = core.asked_lazily = false;
  account(core);
  auto& next = static_cast<Task&>(*core.queue->best());
  if (&next == &task) {
    core.queue->run(task);
    arm(core);
    return;
  }
  ++counters_.preemptions;
  lose_core(task);
  dispatch(core, next, {});
  park(task.thread);
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
    // Getting onto the core is a part of the slice.
    const TimePoint end = std::max(start, core.accounted + std::max(core.queue->slice_left(), shortest));
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

// Which core.

void Scheduler::enqueue(Core& core, Task& task, FairQueue::Arrival arrival) {
  if (core.current != nullptr) {
    account(core);
  }
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
  const bool preempts = core.queue->preempts(task);
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
  from.queue->remove(task);
  enqueue(to, task, FairQueue::Arrival::migrated);
}

void Scheduler::arm_balancing() {
  if (parameters_.balance_period > Duration{}) {
    const std::int64_t periods = now().since_start() / parameters_.balance_period;
    balancing_->at(TimePoint::at(parameters_.balance_period * (periods + 1)));
  }
}

/// Idle cores take a thread, however warm its caches are elsewhere; then the longest queue gives to the shortest while it
/// has two more.
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
      break;
    }
    move(*from, *to, *task);
    if (to->queue->preempts(*task)) {
      ask_for(*to);
    } else {
      arm(*to);
    }
  }
  const bool crowd = std::any_of(tasks_.begin(), tasks_.end(), [](const auto& task) {
    return task && task->state == Task::State::runnable && task->allowed.count() > 1;
  });
  if (crowd) {
    arm_balancing();
  }
}

} // namespace contend
