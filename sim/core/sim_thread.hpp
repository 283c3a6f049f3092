// A simulated thread: ordinary blocking code on a fiber, whose time is counted by category. What it does with the clock is
// defined with the engine.
#pragma once

#include "core/category.hpp"
#include "core/core_paces.hpp"
#include "core/core_policy.hpp"
#include "core/event.hpp"
#include "core/fiber.hpp"
#include "core/processor_use.hpp"
#include "core/store_buffer.hpp"
#include "core/time.hpp"
#include "core/waitable.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <string>

namespace contend {

/// A simulated thread. It has a core to itself, unless a CorePolicy shares cores among threads.
class SimThread : public Target {
public:
  using Body = std::function<void(SimThread&)>;
  /// Time by category, in picoseconds.
  using Times = std::array<Duration, category_count>;

  SimThread(Engine& engine, std::string name, int host, int core, Body body, bool daemon = false,
            CorePolicy* policy = nullptr, const CorePaces* paces = nullptr);

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
  /// Since the last reset_times().
  [[nodiscard]] ProcessorUse processor_use() const;
  /// It was asleep, or ready to run without a core, from `begin` to `end`.
  void was_off_core(TimePoint begin, TimePoint end);
  /// It has fallen asleep.
  void count_voluntary_switch() { ++voluntary_switches_; }
  /// Another thread was given its core, which it did not leave to fall asleep.
  void count_involuntary_switch() { ++involuntary_switches_; }
  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] bool daemon() const { return daemon_; }

  /// Time so far that it was ready to run and had no core.
  [[nodiscard]] Duration without_core() const {
    return charged(Category::run_queue) + charged(Category::context_switch);
  }
  /// Time that work takes on its core for which a price says `span`.
  [[nodiscard]] Duration on_its_core(Duration span) const {
    if (paces_ != nullptr) [[unlikely]] {
      return at_pace(span);
    }
    return span;
  }

  /// Uses the core for work that takes `span` by its price. Only the running thread may call this.
  void spend(Duration span, Category category);
  /// Uses the core for `span` whatever its pace.
  void spend_time(Duration span, Category category);
  /// Like spend() if nobody else is due until then, and the core is not shared; else returns false and does nothing.
  [[nodiscard]] bool spend_alone(Duration span, Category category);
  /// The same where it is: nobody may be about to take it away either. Requires: shares_core().
  [[nodiscard]] bool spend_alone_on_shared_core(Duration span, Category category);
  /// Like spend(), but the time may pass later, together with the next spend() or wait(): for work that touches nothing
  /// another thread can see. Saves a step of the engine.
  void owe(Duration span, Category category);
  /// The same whatever the core's pace.
  void owe_time(Duration span, Category category);
  /// Lets owed time pass: call it before looking at, or changing, what other threads or events can touch.
  void settle();
  /// Time at which this thread is, owed time included.
  [[nodiscard]] TimePoint now() const;
  /// Like spend_time(), for what happens within one instruction: nobody can take the core away meanwhile.
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
  /// From here on until enable_preemption() a shared core cannot be taken away: the kernel's own critical sections.
  void disable_preemption() {
    if (policy_ != nullptr) [[unlikely]] {
      policy_->disable_preemption(*this);
    }
  }
  void enable_preemption() {
    if (policy_ != nullptr) [[unlikely]] {
      policy_->enable_preemption(*this);
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
  /// wait() for somebody whose vain looks are not simulated one by one: where its core is shared, the repetition is told when
  /// the operating system interferes. Call preemption_point() before, and let no time pass in between.
  void repeat(const Waitable& reason, Category category, Repetition& repetition) {
    if (policy_ != nullptr) [[unlikely]] {
      policy_->repeats(*this, repetition);
    }
    wait(reason, category);
  }
  /// Ends repeat() of a thread that shares its core, when it has come to its goal: in place of resume().
  void come_back(const RepeatedPlace& place) {
    mark_resumed();
    policy_->come_back(*this, place);
  }
  /// Where the core is shared: from now on until the next call, spans of time in which nobody can take it away go into
  /// `spans`, as times from now, owed time included; nullptr: nowhere.
  void note_uninterrupted(std::vector<UninterruptedSpan>* spans) {
    if (policy_ != nullptr) [[unlikely]] {
      policy_->note_uninterrupted(*this, spans, now());
    }
  }
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
  /// Requires: paces_ != nullptr.
  [[gnu::noinline, gnu::cold, nodiscard]] Duration at_pace(Duration span) const;
  [[gnu::noinline, gnu::cold]] void tell_trace(TimePoint begin, Duration span, Category category);
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
  CorePolicy* policy_;     ///< none: its core is not shared
  const CorePaces* paces_; ///< none: all cores of its host are alike
  bool plain_;             ///< its time only adds up: no trace is told of it, and prices are what work takes
  std::uint64_t line_transfers_ = 0;
  Duration off_core_{}; ///< since the last reset, as the switches
  std::uint64_t voluntary_switches_ = 0;
  std::uint64_t involuntary_switches_ = 0;
  StoreBuffer store_buffer_;
  void mark_resumed();
  [[gnu::noinline, gnu::cold]] void refuse_to_resume() const;

  const Waitable* waiting_for_ = nullptr;
  bool resumed_ = false; ///< the current or next wait will end, or there is none to come
  bool started_ = false;
  bool finished_ = false;
  bool daemon_; ///< the run does not wait for it
};

} // namespace contend
