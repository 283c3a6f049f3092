// The few things an engine must be able to do, so that the same models can run on another one.
#pragma once

#include "core/time.hpp"

namespace contend {

class Event;
class SimThread;

/// An engine that replaces contend's own clock, queue and context switches. Order: events of equal time run in the order
/// in which they were scheduled. Every call but run() comes from inside run().
class Backend {
public:
  virtual ~Backend() = default;

  [[nodiscard]] virtual TimePoint now() const = 0;
  /// Creates the execution context of a thread; it calls SimThread::run_body() when first scheduled (now, in order).
  virtual void start(SimThread& thread) = 0;
  /// The calling thread continues at `time`.
  virtual void sleep_until(SimThread& self, TimePoint time) = 0;
  /// The calling thread stops until wake(self, ...) is due.
  virtual void park(SimThread& self) = 0;
  /// Schedules a parked thread to continue at `time` (now or later).
  virtual void wake(SimThread& thread, TimePoint time) = 0;
  /// Calls event.fire() at `time` (now or later).
  virtual void schedule(Event& event, TimePoint time) = 0;
  /// Runs until nothing is scheduled.
  virtual void run() = 0;
  /// Ends all threads that have not ended, unwinding their stacks. Called outside run(); nothing runs afterwards.
  virtual void abandon() = 0;
};

} // namespace contend
