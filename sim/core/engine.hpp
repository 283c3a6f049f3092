// The engine: a clock, a queue of future events, and simulated threads that run ordinary blocking code on fibers.
#pragma once

#include "core/backend.hpp"
#include "core/category.hpp"
#include "core/core_policy.hpp"
#include "core/event_queue.hpp"
#include "core/fiber.hpp"
#include "core/random.hpp"
#include "core/store_buffer.hpp"
#include "core/time.hpp"
#include "core/trace.hpp"
#include "core/waitable.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

class Engine;

/// A modelling error: something that a correct model never does. `what()` names the object and the rule.
class InvariantViolation : public std::logic_error {
  using std::logic_error::logic_error;
};

/// The simulation cannot go on: threads are left and nothing can wake them. `what()` lists each with what it waits for.
class Deadlock : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The run took more steps than allowed. `what()` lists what the threads were doing.
class StepLimit : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Somebody asked the run to stop (Engine::set_stop_flag).
class Stopped : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What an entry of the event queue refers to.
class Target {
public:
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

protected:
  Target(Engine& engine, bool is_thread);
  ~Target();

  Engine& engine_;

private:
  friend class Engine;
  Target* next_ready_ = nullptr;
  TargetSlot slot_;
  bool is_thread_;
};

/// Something that happens at a time without a thread of its own (a message arrives). It may be scheduled again while an older
/// date is pending: no date is taken back, so fire() runs at each of them, and has to ignore those that hold no longer.
class Event : public Target {
public:
  explicit Event(Engine& engine) : Target(engine, false) {}
  virtual ~Event() = default;
  /// Runs on whatever stack is active: must not block.
  virtual void fire() = 0;
};

/// A simulated thread. It has a core to itself, unless a CorePolicy shares cores among threads.
class SimThread : public Target {
public:
  using Body = std::function<void(SimThread&)>;
  /// Time by category, in picoseconds.
  using Times = std::array<Duration, category_count>;

  SimThread(Engine& engine, std::string name, int host, int core, Body body, bool daemon = false,
            CorePolicy* policy = nullptr);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] int id() const { return id_; }
  [[nodiscard]] int host() const { return host_; }
  /// Where it runs, or ran last.
  [[nodiscard]] int core() const { return core_; }
  /// A CorePolicy decides when it has a core.
  [[nodiscard]] bool shares_core() const { return policy_ != nullptr; }
  /// Number of the process whose thread this is, or -1: for reports only.
  [[nodiscard]] int process() const { return process_; }
  void set_process(int number) { process_ = number; }
  [[nodiscard]] Engine& engine() const { return engine_; }
  /// Since the last reset_times().
  [[nodiscard]] Times times() const {
    Times times = times_;
    for (std::size_t i = 0; i < category_count; ++i) {
      times[i] -= uncounted_[i];
    }
    return times;
  }
  /// Since the thread began: for differences, which no reset disturbs.
  [[nodiscard]] const Times& times_of_all() const { return times_; }
  [[nodiscard]] Duration charged(Category category) const { return times_[static_cast<std::size_t>(category)]; }
  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] bool daemon() const { return daemon_; }

  /// Uses the core for `span`. Only the running thread may call this.
  void spend(Duration span, Category category);
  /// Like spend() if nobody else is due until then; else returns false and does nothing.
  [[nodiscard]] bool spend_alone(Duration span, Category category);
  /// Like spend(), but the time may pass later, together with the next spend() or wait(): for work that touches nothing
  /// another thread can see. Saves a step of the engine.
  void owe(Duration span, Category category);
  /// Lets owed time pass: call it before looking at, or changing, what other threads or events can touch.
  void settle();
  /// Time at which this thread is, owed time included.
  [[nodiscard]] TimePoint now() const;
  /// Like spend(), for what happens within one instruction: nobody can take the core away meanwhile.
  void stall(Duration span, Category category);
  /// A shared core may be taken away here, once owed time has passed.
  void preemption_point() {
    if (policy_ != nullptr) [[unlikely]] {
      settle();
      policy_->give_way_if_asked(*this);
    }
  }
  /// A system call of this thread returns: with lazy preemption its core may be taken away here.
  void leave_kernel() {
    if (policy_ != nullptr) [[unlikely]] {
      policy_->leaves_kernel(*this);
    }
  }
  /// sched_yield(): lets others have the core first. Costs nothing where the core is not shared.
  void yield() {
    if (policy_ != nullptr) [[unlikely]] {
      settle();
      policy_->yield(*this);
    }
  }
  /// Whether it has a core at this moment: one whose core is not shared always has.
  [[nodiscard]] bool has_core() const { return policy_ == nullptr || policy_->has_core(*this); }
  /// Stops until resume(); the time is charged to `category`, and `reason` is what a deadlock report shows. What the thread
  /// does meanwhile matters where its core is shared.
  void wait(const Waitable& reason, Category category, Waiting how = Waiting::spinning);
  /// Lets a waiting thread go on now (after everything already due now), or at a later time: once for each wait, before or
  /// during it. Throws InvariantViolation otherwise.
  void resume();
  void resume_at(TimePoint time);
  /// As resume_at(runnable + latency), for a thread that sleeps: where it has to queue for a shared core it does so from
  /// `runnable` on, and `latency` is only paid by a core that idles.
  void wake_at(TimePoint runnable, Duration latency, const SimThread& waker);
  /// What it costs `waker` to wake this sleeping thread, where that is `interrupting` if another core has to be interrupted.
  [[nodiscard]] Duration wake_call(const SimThread& waker, Duration interrupting) const {
    return policy_ == nullptr ? interrupting : policy_->wake_call(*this, waker, interrupting);
  }

  [[nodiscard]] StoreBuffer& store_buffer() { return store_buffer_; }

  /// Cache lines that this thread had to fetch from elsewhere so far.
  [[nodiscard]] std::uint64_t line_transfers() const { return line_transfers_; }
  void count_line_transfer() { ++line_transfers_; }

  /// Moves `span` of what was charged to a category since charged(from) was `before` to another one. If the accounts were
  /// started afresh meanwhile, the same part of it counts there as here.
  void reclassify(Duration span, Category from, Category to, Duration before);
  /// Starts the accounts afresh (end of warm-up). Another thread may do so: of a wait that this one is in, what is still to
  /// come counts.
  void reset_times();

  /// For backends: runs the body to its end; errors are kept and thrown by Engine::run.
  void run_body();
  /// For backends: a place to keep their context.
  void* backend_context = nullptr;

private:
  friend class CorePolicy;
  friend class Engine;
  static void fiber_entry(void* self);
  void charge(TimePoint begin, Duration span, Category category);
  /// The same for time that has passed already, maybe in part before the accounts were started afresh.
  void charge_passed(TimePoint begin, Duration span, Category category);

  std::string name_;
  int id_;
  int host_;
  int core_;
  int process_ = -1;
  Body body_;
  Fiber fiber_;
  StackPool::Stack stack_;
  Times times_{};
  Times uncounted_{}; ///< part of `times_` before the last reset
  TimePoint counted_from_;
  Duration owed_{};
  CorePolicy* policy_; ///< none: its core is not shared
  std::uint64_t line_transfers_ = 0;
  StoreBuffer store_buffer_;
  void mark_resumed();
  [[gnu::noinline, gnu::cold]] void refuse_to_resume() const;

  const Waitable* waiting_for_ = nullptr;
  bool resumed_ = false; ///< the current or next wait will end, or there is none to come
  bool started_ = false;
  bool finished_ = false;
  bool daemon_; ///< the run does not wait for it
};

/// Sees every step of a run in order. Used for hashes of the event sequence and in tests.
class StepObserver {
public:
  virtual ~StepObserver() = default;
  /// A thread or event (by slot) continues at `time`.
  virtual void step(TimePoint time, TargetSlot slot) = 0;
};

/// Runs threads and events in order of (time, insertion). One simulation per engine; engines share nothing.
class Engine {
public:
  explicit Engine(std::uint64_t seed, std::unique_ptr<Backend> backend = nullptr);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] TimePoint now() const { return now_; }
  /// When the last thread that the run waits for has ended: events that nobody waits for may come after it.
  [[nodiscard]] TimePoint last_end() const { return last_end_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] RandomStream stream(std::string_view name) const { return {seed_, name}; }
  /// Steps taken so far: every continuation of a thread and every event.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

  /// Adds a thread that starts now, after everything already due. `core` counts within `host`.
  SimThread& spawn(std::string name, int host, int core, SimThread::Body body) {
    return add_thread(std::move(name), host, core, std::move(body), false, nullptr);
  }
  /// A thread for which the run does not wait: it is over when all others have ended.
  SimThread& spawn_daemon(std::string name, int host, int core, SimThread::Body body) {
    return add_thread(std::move(name), host, core, std::move(body), true, nullptr);
  }
  [[nodiscard]] const std::vector<std::unique_ptr<SimThread>>& threads() const { return threads_; }

  /// Runs until all threads have ended. Throws Deadlock, Stopped, or what a thread threw.
  void run();

  /// Gives the simulation up: unwinds the stacks of all threads that have not ended. Call it while the models that the
  /// threads use still exist. The engine cannot run again.
  void abandon();

  /// Fires `event` at `time`, which must not be in the past; about several dates of one event, see Event.
  void schedule(Event& event, TimePoint time);

  void set_observer(StepObserver* observer) {
    observer_ = observer;
    attention_at_ = steps_; // from the next step on
  }
  /// Everything that can be watched goes to `trace`; nullptr: nowhere. A sink that has seen enough may take itself out.
  void set_trace(TraceSink* trace) { trace_ = trace; }
  [[nodiscard]] TraceSink* trace() const { return trace_; }
  /// The run ends with Stopped soon after *flag becomes true.
  void set_stop_flag(const std::atomic<bool>* flag) { stop_flag_ = flag; }

  /// Throws StepLimit from run() after about this many steps: a net for models that poll for ever. `origin` says in the
  /// message where the limit is from.
  void set_step_limit(std::uint64_t steps, std::string origin = {}) {
    step_limit_ = steps;
    step_limit_origin_ = std::move(origin);
  }
  /// The same after about this many steps without a call of note_operation().
  void set_idle_step_limit(std::uint64_t steps, std::string origin = {}) {
    idle_step_limit_ = steps;
    idle_step_limit_origin_ = std::move(origin);
  }
  /// Something that the simulated application asked for is complete: it does not merely poll.
  void note_operation() { operation_at_ = steps_; }
  /// What every thread that has not ended waits for, a line each.
  [[nodiscard]] std::string thread_report() const;

  /// For backends: the clock has moved, and a target continues.
  void backend_step(TimePoint time, TargetSlot slot);
  /// For backends: the run is over for all but daemons and schedulers, has failed, was stopped or was given up; nobody may
  /// continue.
  [[nodiscard]] bool ending() const {
    return unwinding_ || error_ != nullptr || (unfinished_ == 0 && (daemons_ > 0 || !policies_.empty()));
  }
  [[nodiscard]] static TargetSlot slot_of(const Target& target) { return target.slot_; }

private:
  friend class CorePolicy;
  friend class SimThread;
  friend class Target;
  static constexpr std::uint64_t stop_check_period = 4096; ///< look at the stop flag every so many steps
  struct Unwind {}; ///< thrown through the stack of a thread whose simulation is over

  SimThread& add_thread(std::string name, int host, int core, SimThread::Body body, bool daemon, CorePolicy* policy);
  TargetSlot add_target(Target& target);
  void remove_target(TargetSlot slot) { free_slots_.push_back(slot); }

  void advance(SimThread& self, Duration span);
  bool advance_alone(SimThread& self, Duration span);
  void step_alone(SimThread& self, Duration span);
  /// Never for a span that leads beyond the end of time: as unsigned numbers such dates come after all others.
  [[nodiscard]] bool alone_for(Duration span) const {
    return static_cast<std::uint64_t>((now_ + span).since_start().count()) <
           static_cast<std::uint64_t>(alone_until_.since_start().count());
  }
  void park(SimThread& self);
  void make_ready(SimThread& thread);
  /// Requires: ready_head_ != nullptr.
  [[nodiscard]] bool on_ready_list(const Target& target) const {
    return target.next_ready_ != nullptr || ready_tail_ == &target;
  }
  /// Requires: not on_ready_list(target).
  void append_ready(Target& target) {
    (ready_head_ == nullptr ? ready_head_ : ready_tail_->next_ready_) = &target;
    ready_tail_ = &target;
    alone_until_ = TimePoint();
  }
  void enqueue(Target& target, TimePoint time) {
    queue_.push(EventKey(time, ++sequence_, target.slot_));
    alone_until_ = std::min(alone_until_, time);
  }
  void insert(Target& target, TimePoint time);
  void wake_at(SimThread& thread, TimePoint time);

  void leave(SimThread& self);
  [[nodiscard]] Fiber* next_fiber(const SimThread* self);
  [[nodiscard]] Fiber* next_fiber_inline(const SimThread& self);
  [[gnu::noinline, gnu::cold, nodiscard]] Fiber* start(SimThread& thread);
  [[noreturn]] static void throw_unwind();
  /// Returns whether the run has to end, see error_.
  [[nodiscard]] bool count_step(TargetSlot slot) { return ++steps_ >= attention_at_ && attend(slot); }
  [[gnu::noinline, gnu::cold]] bool attend(TargetSlot slot);
  void check_stop();
  [[gnu::noinline, gnu::cold]] void give_up(SimThread& self);
  [[gnu::noinline, gnu::cold]] void run_out_of_time(SimThread& self);

  // Hot members first.
  TimePoint now_;
  TimePoint alone_until_ = TimePoint::never(); ///< nobody is due before; the start of time while somebody is due now
  std::uint64_t steps_ = 0;
  std::uint64_t attention_at_ = stop_check_period; ///< count_step() has more to do than to count
  Target* ready_head_ = nullptr;                   ///< due now, inserted now
  EventQueue queue_;
  std::uint64_t sequence_ = 0;
  StepObserver* observer_ = nullptr;
  std::vector<Target*> targets_;
  Target* ready_tail_ = nullptr;
  Fiber main_;

  std::unique_ptr<Backend> backend_;
  const std::atomic<bool>* stop_flag_ = nullptr;
  std::uint64_t step_limit_ = ~std::uint64_t{0};
  std::uint64_t idle_step_limit_ = ~std::uint64_t{0};
  std::string step_limit_origin_;
  std::string idle_step_limit_origin_;
  std::uint64_t operation_at_ = 0; ///< number of the step in which an operation completed last
  TraceSink* trace_ = nullptr;
  std::uint64_t seed_;
  std::vector<TargetSlot> free_slots_;
  StackPool stacks_;
  std::vector<std::unique_ptr<SimThread>> threads_;
  std::vector<CorePolicy*> policies_;
  std::size_t background_ = 0; ///< entries of the queue that are housekeeping, see CorePolicy
  std::exception_ptr error_;
  TimePoint last_end_;
  int unfinished_ = 0; ///< threads that have not ended, without daemons
  int daemons_ = 0;
  bool unwinding_ = false;
};

inline TimePoint SimThread::now() const { return engine_.now() + owed_; }

inline void SimThread::charge(TimePoint begin, Duration span, Category category) {
  times_[static_cast<std::size_t>(category)] += span;
  if (engine_.trace() != nullptr) [[unlikely]] {
    engine_.trace()->span(*this, category, begin, begin + span);
  }
}

__attribute__((always_inline)) inline void SimThread::spend(Duration span, Category category) {
  if (policy_ != nullptr) [[unlikely]] {
    policy_->advance(*this, std::exchange(owed_, {}), span, category);
    return;
  }
  charge(now(), span, category);
  engine_.advance(*this, span + std::exchange(owed_, {}));
}

__attribute__((always_inline)) inline bool SimThread::spend_alone(Duration span, Category category) {
  if (policy_ != nullptr || !engine_.alone_for(owed_ + span)) {
    return false;
  }
  if (owed_ != Duration{}) { // a step of its own, as where others are due
    engine_.step_alone(*this, std::exchange(owed_, {}));
  }
  charge(engine_.now(), span, category);
  engine_.step_alone(*this, span);
  return true;
}

inline void SimThread::stall(Duration span, Category category) {
  charge(now(), span, category);
  engine_.advance(*this, span + std::exchange(owed_, {}));
}

inline void SimThread::owe(Duration span, Category category) {
  charge(now(), span, category);
  owed_ += span;
}

inline void SimThread::settle() {
  if (owed_ != Duration{}) {
    if (policy_ != nullptr) [[unlikely]] {
      policy_->settle(*this, std::exchange(owed_, {}));
      return;
    }
    engine_.advance(*this, std::exchange(owed_, {}));
  }
}

__attribute__((always_inline)) inline void SimThread::wait(const Waitable& reason, Category category, Waiting how) {
  settle();
  waiting_for_ = &reason;
  if (engine_.trace() != nullptr) [[unlikely]] {
    engine_.trace()->waits(*this, category, engine_.now());
  }
  if (policy_ != nullptr) [[unlikely]] {
    policy_->wait(*this, how, category);
    waiting_for_ = nullptr;
    resumed_ = false;
    return;
  }
  const TimePoint start = engine_.now();
  engine_.park(*this);
  waiting_for_ = nullptr;
  resumed_ = false;
  charge_passed(start, engine_.now() - start, category);
}

inline void SimThread::charge_passed(TimePoint begin, Duration span, Category category) {
  charge(begin, span, category);
  if (begin < counted_from_) [[unlikely]] {
    uncounted_[static_cast<std::size_t>(category)] += std::min(span, counted_from_ - begin);
  }
}

inline void SimThread::reclassify(Duration span, Category from, Category to, Duration before) {
  const auto source = static_cast<std::size_t>(from);
  const auto destination = static_cast<std::size_t>(to);
  if (const Duration uncounted = uncounted_[source] - before; uncounted > Duration{}) [[unlikely]] {
    const double share =
        static_cast<double>(uncounted.count()) / static_cast<double>((times_[source] - before).count());
    const Duration moved = span.scaled(std::min(share, 1.0));
    uncounted_[source] -= moved;
    uncounted_[destination] += moved;
  }
  times_[source] -= span;
  times_[destination] += span;
  if (engine_.trace() != nullptr) [[unlikely]] {
    engine_.trace()->reclassified(*this, span, from, to);
  }
}

inline void SimThread::reset_times() {
  uncounted_ = times_;
  counted_from_ = now();
  if (engine_.trace() != nullptr) [[unlikely]] {
    engine_.trace()->restart(*this, now());
  }
}

inline void SimThread::resume() {
  mark_resumed();
  if (policy_ != nullptr) [[unlikely]] {
    policy_->resume(*this);
    return;
  }
  engine_.make_ready(*this);
}

inline void SimThread::mark_resumed() {
  if (resumed_) [[unlikely]] {
    refuse_to_resume();
  }
  resumed_ = true;
}

inline void Engine::make_ready(SimThread& thread) {
  if (backend_) [[unlikely]] {
    backend_->wake(thread, now_);
    return;
  }
  append_ready(thread);
}

__attribute__((always_inline)) inline void Engine::park(SimThread& self) {
  if (backend_) [[unlikely]] {
    backend_->park(self);
    return;
  }
  leave(self);
}

/// Requires: alone_for(span).
__attribute__((always_inline)) inline void Engine::step_alone(SimThread& self, Duration span) {
  now_ = now_ + span;
  if (count_step(self.slot_)) [[unlikely]] {
    give_up(self);
  }
}

/// Nobody else is due before: the thread goes on without a switch. Returns false, with nothing done, if somebody is.
__attribute__((always_inline)) inline bool Engine::advance_alone(SimThread& self, Duration span) {
  if (!alone_for(span)) {
    return false;
  }
  step_alone(self, span);
  return true;
}

/// next_fiber() for the usual case, a thread that the queue has and that has begun.
__attribute__((always_inline)) inline Fiber* Engine::next_fiber_inline(const SimThread& self) {
  if (ready_head_ != nullptr || unwinding_ || queue_.empty()) [[unlikely]] {
    return next_fiber(&self);
  }
  const EventKey key = queue_.next();
  Target* const target = targets_[key.slot()];
  if (!target->is_thread_) {
    return next_fiber(&self);
  }
  auto& thread = *static_cast<SimThread*>(target);
  if (!thread.started_) [[unlikely]] {
    return next_fiber(&self); // there may be no memory for a stack, which is not this thread's error
  }
  queue_.drop();
  now_ = key.time();
  alone_until_ = queue_.next_time();
  if (count_step(key.slot())) [[unlikely]] {
    return &main_;
  }
  return &thread == &self ? nullptr : &thread.fiber_;
}

/// Stops the running thread until it is due again. The choice and the switch are inlined into the thread's own code: each
/// place that stops a thread has a history of its own for a processor to predict from.
__attribute__((always_inline)) inline void Engine::leave(SimThread& self) {
  if (Fiber* next = next_fiber_inline(self); next != nullptr) {
    self.fiber_.switch_to(*next);
    if (unwinding_) [[unlikely]] {
      throw_unwind();
    }
  }
}

__attribute__((always_inline)) inline void Engine::advance(SimThread& self, Duration span) {
  if (advance_alone(self, span)) {
    return;
  }
  if (now_ + span < TimePoint()) [[unlikely]] {
    run_out_of_time(self);
    return;
  }
  if (backend_) [[unlikely]] {
    backend_->sleep_until(self, now_ + span);
    return;
  }
  if (ready_head_ != nullptr && span == Duration{}) [[unlikely]] {
    append_ready(self); // after those that became ready before
  } else {
    enqueue(self, now_ + span);
  }
  leave(self);
}

} // namespace contend
