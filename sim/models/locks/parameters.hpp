#pragma once

#include "core/time.hpp"

namespace contend {

/// Tunables that belong to lock algorithms rather than to the machine.
struct LockParameters {
  Duration pause{};           ///< one turn of a spin loop (PAUSE instruction and test)
  Duration backoff_minimum{}; ///< first back-off of a TTAS lock after a lost race; zero: no back-off
  Duration backoff_maximum{}; ///< back-off doubles up to this value
};

} // namespace contend
