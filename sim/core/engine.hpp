// The engine: a clock, a queue of future events, and simulated threads that run ordinary blocking code on fibers.
#pragma once

#include "core/backend.hpp"
#include "core/category.hpp"
#include "core/core_policy.hpp"
#include "core/event.hpp"
#include "core/event_queue.hpp"
#include "core/failures.hpp"
#include "core/fiber.hpp"
#include "core/random.hpp"
#include "core/sim_thread.hpp"
#include "core/time.hpp"
#include "core/trace.hpp"
#include "core/waitable.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

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

  /// The cores of `host` are not all equally fast. Call it before the host has threads.
  void set_core_paces(int host, CorePaces paces) { core_paces_.insert_or_assign(host, std::move(paces)); }
  /// None: all cores of `host` are alike.
  [[nodiscard]] const CorePaces* core_paces(int host) const {
    const auto found = core_paces_.find(host);
    return found == core_paces_.end() ? nullptr : &found->second;
  }

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
  void set_trace(TraceSink* trace);
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
  std::map<int, CorePaces> core_paces_; ///< by host, where cores are not alike
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
  if (!plain_) [[unlikely]] {
    tell_trace(begin, span, category);
  }
}

__attribute__((always_inline)) inline void SimThread::spend(Duration span, Category category) {
  if (policy_ != nullptr) [[unlikely]] {
    policy_->advance(*this, std::exchange(owed_, {}), on_its_core(span), category);
    return;
  }
  if (!plain_) [[unlikely]] {
    span = on_its_core(span);
    tell_trace(now(), span, category);
  }
  times_[static_cast<std::size_t>(category)] += span;
  engine_.advance(*this, span + std::exchange(owed_, {}));
}

inline void SimThread::spend_time(Duration span, Category category) {
  if (policy_ != nullptr) [[unlikely]] {
    policy_->advance(*this, std::exchange(owed_, {}), span, category);
    return;
  }
  charge(now(), span, category);
  engine_.advance(*this, span + std::exchange(owed_, {}));
}

__attribute__((always_inline)) inline bool SimThread::spend_alone(Duration span, Category category) {
  span = on_its_core(span);
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

inline bool SimThread::spend_alone_on_shared_core(Duration span, Category category) {
  span = on_its_core(span);
  const Duration owed = std::exchange(owed_, {});
  if (policy_->advance_alone(*this, owed, span, category)) {
    return true;
  }
  owed_ = owed;
  return false;
}

inline void SimThread::stall(Duration span, Category category) {
  charge(now(), span, category);
  engine_.advance(*this, span + std::exchange(owed_, {}));
}

inline void SimThread::owe(Duration span, Category category) {
  if (!plain_) [[unlikely]] {
    span = on_its_core(span);
    tell_trace(now(), span, category);
  }
  times_[static_cast<std::size_t>(category)] += span;
  owed_ += span;
}

inline void SimThread::owe_time(Duration span, Category category) {
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
  if (how == Waiting::asleep) {
    count_voluntary_switch();
  }
  engine_.park(*this);
  waiting_for_ = nullptr;
  resumed_ = false;
  charge_passed(start, engine_.now() - start, category);
  if (how == Waiting::asleep) {
    was_off_core(start, engine_.now());
  }
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
  off_core_ = {};
  voluntary_switches_ = involuntary_switches_ = 0;
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

inline bool CorePolicy::giving_up() const { return engine_.unwinding_; }

inline TimePoint CorePolicy::now() const { return engine_.now_; }

inline bool CorePolicy::alone_for(Duration span) const { return engine_.alone_for(span); }

inline bool CorePolicy::pass_alone(SimThread& self, Duration span) { return engine_.advance_alone(self, span); }

inline void CorePolicy::charge(SimThread& thread, TimePoint begin, Duration span, Category category) {
  if (span != Duration{}) {
    thread.charge_passed(begin, span, category);
  }
}

} // namespace contend
