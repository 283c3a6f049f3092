// Threads compete for one lock for a while.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace contend::native {

struct ContestParameters {
  int threads = 1;
  std::int64_t inside_rounds = 0;  ///< work in the critical section, in rounds of busy work
  std::int64_t outside_rounds = 0; ///< work between two critical sections
  double seconds = 0.2;
  bool bind = true; ///< thread i on the i-th of `cores`
  std::vector<int> cores;
  bool read_clock = false; ///< holders note when they get and leave the lock
};

struct ContestResult {
  double elapsed_s = 0;
  std::vector<double> acquisitions; ///< by thread
  double same_thread = 0;           ///< acquisitions by the thread that had the lock before
  double failed_tries = 0;
  std::vector<double> hold_s;      ///< with read_clock
  std::vector<double> hand_over_s; ///< with read_clock: from a release to the acquisition by another thread
};

[[nodiscard]] const std::vector<std::string>& lock_names();

/// Throws Failure(incorrect) if the lock let two threads in at once.
[[nodiscard]] ContestResult run_contest(const std::string& lock, const ContestParameters& parameters);

} // namespace contend::native
