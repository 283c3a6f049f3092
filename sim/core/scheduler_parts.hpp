// What a scheduler keeps of its threads and cores, for the files that it is written in: scheduler.cpp (what there is),
// scheduler_activity.cpp (what a thread does), scheduler_repetition.cpp (what it repeats), scheduler_dispatch.cpp (who has a core), scheduler_placement.cpp (which core),
// scheduler_newly_idle.cpp (what a core does that falls idle), scheduler_balancing.cpp (who changes cores), scheduler_beginning.cpp (where
// threads begin).
#pragma once

#include "core/newly_idle_ratio.hpp"
#include "core/scheduler.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace contend {

/// Something that happens to a task at a date that may change: only the last date counts. Older ones stay in the event queue,
/// and find that they are not `due_`.
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
  enum class State { created, running, runnable, asleep, ended };
  /// What it does when it has a core.
  enum class Activity {
    acting,    ///< its own code runs, or time passes that cannot be interrupted
    computing, ///< until `left` is used up
    spinning,  ///< until it is resumed
    stalled,   ///< until it is resumed, and nobody can take its core
    settling,  ///< until `left` is used up, and nobody can take its core
  };

  Task(Scheduler& scheduler, SimThread& its_thread, const CoreSet& its_cores)
      : thread(its_thread), allowed(its_cores), step(scheduler, *this, &Scheduler::finish_step),
        alarm(scheduler, *this, &Scheduler::woken) {}

  SimThread& thread;
  CoreSet allowed;
  Core* core = nullptr;   ///< whose queue it is in, or was in last
  Core* ran_on = nullptr; ///< where its caches are warm
  State state = State::created;
  Activity activity = Activity::acting;
  Category category{};     ///< of the activity, or of its sleep
  TimePoint since;         ///< its time is charged up to here; lies ahead while it gets onto a core
  Duration left;           ///< computing
  Duration stolen;         ///< timer interrupts during what cannot be interrupted
  TimePoint ran_until;     ///< when it had a core last
  bool keeps_core = false; ///< nobody can take its core, whatever it does
  bool resumed = false;    ///< what it waits, or is about to wait for, has come
  Duration latency;        ///< of the idle core on which it wakes up
  int waker_core = -1;     ///< -1: not known
  bool to_waker = false;   ///< it goes there if no core idles
  double load = 1.0; ///< share of the time in which it wanted a core, averaged as that of cores, up to `load_noted`
  TimePoint load_noted;
  Repetition* repetition = nullptr;   ///< whose end it spins for
  std::optional<RepeatedPlace> place; ///< on its way back from a repetition: where it is when `left` is used up
  Duration passed;                    ///< of what its own code does next
  std::vector<UninterruptedSpan>* spans = nullptr; ///< where to note what cannot be interrupted
  TimePoint spans_origin;
  TaskEvent step;  ///< the end of computing, or of getting onto a core
  TaskEvent alarm; ///< resume_at() and wake()
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

/// Cores among which load is balanced, in groups, each a domain of the level below or one core (Linux's sched_domain).
struct Scheduler::Domain {
  std::vector<std::vector<Core*>> groups;
  double tolerated = 1.0; ///< a group may have so much more than the own one
  int patience = 0;       ///< after more attempts in vain warm caches do not matter
  Duration idle_period;   ///< how often an idle core looks
  Duration busy_period;   ///< and another one
};

/// That a core looks for load in a domain.
struct Scheduler::Look {
  Domain* domain;
  std::size_t group; ///< of which the core is
  TimePoint last;    ///< when the core looked
  Duration delay;    ///< so much longer than its period a busy core waits until it looks again
  TimePoint next;
  int failed;                ///< attempts in vain since the last that found a thread, or found that all is well
  NewlyIdleRatio newly_idle; ///< how often the core looks in it on falling idle
};

struct Scheduler::Core {
  Core(Scheduler& scheduler, int its_number, std::unique_ptr<FairQueue> its_queue)
      : number(its_number), queue(std::move(its_queue)), timer(scheduler, *this) {}

  int number;
  std::unique_ptr<FairQueue> queue;
  Task* current = nullptr;
  Task* last = nullptr;       ///< who had it before, or has it
  bool asked = false;         ///< the current thread should give way as soon as it can
  bool asked_lazily = false;  ///< when it returns from the kernel
  std::vector<int> processes; ///< that had it, the last one first
  TimePoint accounted;        ///< the queue knows of the current thread's time up to here
  double load = 0.0;          ///< average of that of the queue, up to `load_noted`
  double utilisation = 0.0;   ///< share of the time in which it had something to do, averaged alike
  TimePoint load_noted;
  bool is_idle = true;
  TimePoint idle_since;
  Duration idle_average;   ///< of how long it idles
  std::vector<Look> looks; ///< inner domains first
  CoreTimer timer;
};

class Scheduler::Balancing final : public Event {
public:
  explicit Balancing(Scheduler& scheduler) : Event(scheduler.engine_), scheduler_(scheduler) {}
  /// Fires then, or before: an earlier date stays.
  void at(TimePoint time) {
    if (time < due_) {
      due_ = time;
      scheduler_.schedule_background(*this, time);
    }
  }
  [[nodiscard]] bool armed() const { return due_ != TimePoint::never(); }
  void fire() override {
    scheduler_.background_fired();
    if (scheduler_.now() == due_) {
      due_ = TimePoint::never();
      scheduler_.balance();
    }
  }

private:
  Scheduler& scheduler_;
  TimePoint due_ = TimePoint::never();
};

} // namespace contend
