// The second engine: contend's models on SimGrid's clock, timers, actors and semaphores.
#pragma once

#include "core/backend.hpp"

#include <memory>

namespace contend {

/// A backend on which every SimThread is an S4U actor. It takes the same steps in the same order as contend's own engine.
///
/// Time: one second of SimGrid's clock stands for one picosecond, so every date is an integer in a double. Sums and
/// differences of such dates are exact up to 2^53 ps (2.5 hours of simulated time); a date beyond ends the run with
/// std::overflow_error. SimGrid's own precision, 1e-9 of its seconds, is then far below the spacing of dates.
///
/// Errors: InvariantViolation when SimGrid's clock is not exactly at a date that it reports as reached.
///
/// One simulation at a time: SimGrid allows one engine in a process. It is made by the first call and stays until the
/// process ends; later backends continue its clock, so all simulations of a process share the 2^53 ps. Making a
/// backend while another exists throws std::logic_error. Run simulations side by side in processes of their own.
[[nodiscard]] std::unique_ptr<Backend> make_s4u_backend();

} // namespace contend
