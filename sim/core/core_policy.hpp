// Who has a core when threads share it: what the engine asks an operating system's scheduler. Threads that have a core to
// themselves never get here.
#pragma once

#include "core/category.hpp"
#include "core/repetition.hpp"
#include "core/time.hpp"

#include <functional>
#include <string>
#include <vector>

namespace contend {

class Engine;
class Event;
class SimThread;

/// What a thread that waits does with its core.
enum class Waiting {
  spinning, ///< looks at what it waits for again and again: the core is busy, and others can be given it
  stalled,  ///< is in the middle of one instruction, such as an access to memory: the core cannot be taken away
  asleep,   ///< leaves the core to others, and has to be woken
};

/// Shares cores among threads. Every call comes from inside the run; `self` is the running thread, on a core of its own at
/// that moment. Time is charged by the policy, as it passes.
class CorePolicy {
public:
  CorePolicy(const CorePolicy&) = delete;
  CorePolicy& operator=(const CorePolicy&) = delete;
  virtual ~CorePolicy();

  /// `self` uses its core for `owed`, which has been charged already and cannot be interrupted, and then for `span`. Returns
  /// when it has had that, however often others had the core meanwhile.
  virtual void advance(SimThread& self, Duration owed, Duration span, Category category) = 0;
  /// Does the same if nobody can interfere until then, the operating system included; else returns false and does
  /// nothing.
  [[nodiscard]] virtual bool advance_alone(SimThread& self, Duration owed, Duration span, Category category) = 0;
  /// The same for owed time only.
  virtual void settle(SimThread& self, Duration owed) = 0;
  /// A place at which the core may be taken away.
  virtual void give_way_if_asked(SimThread& self) = 0;
  /// `self` returns from a system call: the operating system may give its core to somebody who has asked for it meanwhile.
  virtual void leaves_kernel(SimThread& self) = 0;
  /// The core of `self` cannot be taken away from here on, and can again.
  virtual void disable_preemption(SimThread& self) = 0;
  virtual void enable_preemption(SimThread& self) = 0;
  /// The next wait of `self`, spinning, is for the end of `repetition`, which the policy may cut short.
  virtual void repeats(SimThread& self, Repetition& repetition) = 0;
  /// The repetition of `thread` is over: its wait ends when it has come to its goal.
  virtual void come_back(SimThread& thread, const RepeatedPlace& place) = 0;
  /// From now on until the next call, spans in which nobody can take the core of `self` away go into `spans`, as times from
  /// `origin`; nullptr: nowhere.
  virtual void note_uninterrupted(SimThread& self, std::vector<UninterruptedSpan>* spans, TimePoint origin) = 0;
  /// Returns after resume(), resume_at() or wake().
  virtual void wait(SimThread& self, Waiting how, Category category) = 0;
  virtual void resume(SimThread& thread) = 0;
  virtual void resume_at(SimThread& thread, TimePoint time) = 0;
  /// `waker` ends the sleep of `thread`, which can run from `runnable` on; where a core idles, after another `latency`.
  virtual void wake(SimThread& thread, const SimThread& waker, TimePoint runnable, Duration latency) = 0;
  /// What it costs `waker` to wake `thread`, where that is `interrupting` if another core has to be interrupted.
  [[nodiscard]] virtual Duration wake_call(const SimThread& thread, const SimThread& waker, Duration interrupting) = 0;
  /// Others that wait for the core may have it first.
  virtual void yield(SimThread& self) = 0;
  /// `self` has ended.
  virtual void ended(SimThread& self) = 0;
  /// Whether `thread` has a core at this moment.
  [[nodiscard]] virtual bool has_core(const SimThread& thread) const = 0;
  /// Some thread waits for a core and would do more than wait for others if it had it.
  [[nodiscard]] virtual bool has_work() const = 0;

protected:
  /// Throws std::invalid_argument for an engine with a backend, which has cores of its own.
  explicit CorePolicy(Engine& engine);

  // What a policy may do with the engine.
  SimThread& create_thread(std::string name, int host, int core, std::function<void(SimThread&)> body, bool daemon);
  /// The stacks are being unwound: there is no more time to share.
  [[nodiscard]] bool giving_up() const;
  [[nodiscard]] TimePoint now() const;
  /// Time passes for a thread that cannot be interrupted.
  void pass(SimThread& self, Duration span);
  /// Nothing at all is due before the end of it.
  [[nodiscard]] bool alone_for(Duration span) const;
  /// Time passes if that is so; returns whether it did.
  bool pass_alone(SimThread& self, Duration span);
  /// The running thread stops until make_ready().
  void park(SimThread& self);
  void make_ready(SimThread& thread);
  static void charge(SimThread& thread, TimePoint begin, Duration span, Category category);
  static void put_on_core(SimThread& thread, int core);
  /// Housekeeping that alone does not keep a simulation alive: an event that schedules itself again and again. Call
  /// background_fired() when it fires.
  void schedule_background(Event& event, TimePoint time);
  void background_fired();
  /// There is something left to simulate besides housekeeping.
  [[nodiscard]] bool alive() const;

  Engine& engine_;
};

} // namespace contend
