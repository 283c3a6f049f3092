// How a run can fail.
#pragma once

#include <stdexcept>

namespace contend {

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

} // namespace contend
