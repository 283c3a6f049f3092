// Misbehaviour on request, so that tests can show what a campaign does about it, and the step that a run has come to.
#pragma once

#include <cstdint>

namespace contend::native {

/// Steps are iterations, or points in programs without iterations; -1: never.
struct Hooks {
  std::int64_t crash = -1;
  std::int64_t deadlock = -1;

  /// Notes that `step` begins. Dies of a signal or blocks for ever if the step is the chosen one.
  void begin_step(std::int64_t step) const;
};

/// The step that began last in this process, -1 before the first.
[[nodiscard]] std::int64_t last_step();

} // namespace contend::native
