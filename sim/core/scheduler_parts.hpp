// What a scheduler keeps of its threads and cores, for the files that it is written in: scheduler.cpp (what there is),
// scheduler_activity.cpp (what a thread does), scheduler_dispatch.cpp (who has a core), scheduler_placement.cpp (which core).
#pragma once

#include "core/scheduler.hpp"

#include <memory>
#include <utility>
#include <vector>

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
  Task* last = nullptr;       ///< who had it before, or has it
  bool asked = false;         ///< the current thread should give way as soon as it can
  bool asked_lazily = false;  ///< when it returns from the kernel
  std::vector<int> processes; ///< that had it, the last one first
  TimePoint accounted;        ///< the queue knows of the current thread's time up to here
  double load = 0.0;          ///< average of that of the queue, up to `load_noted`; where groups compete
  TimePoint load_noted;
  int failed_balances = 0; ///< that found this core to have too little, since one moved somebody here
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

} // namespace contend
