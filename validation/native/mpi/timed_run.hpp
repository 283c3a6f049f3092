// Warm-up, then timed repetitions of an iteration that threads of several processes run together.
#pragma once

#include "mpi/session.hpp"
#include "support/thread_barrier.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace contend::native {

struct TimedRunParameters {
  std::int64_t warmup_iterations = 0;
  std::int64_t iterations = 1;
  std::int64_t repetitions = 1;
  double target_seconds = 0; ///< of a repetition; 0: as many iterations as asked
  Hooks hooks;
};

/// What rank 0 knows at the end.
struct TimedRunResult {
  std::int64_t iterations = 0;   ///< per repetition
  std::vector<double> elapsed_s; ///< by repetition: the slowest process from common start to its last thread's end
  std::vector<std::vector<double>> iteration_s; ///< by repetition
};

/// The threads of this process. Every thread of every process calls `run_thread` with the same parameters.
///
/// Where a length is asked for, trials of a fraction of it follow the warm-up and tell how many iterations a repetition
/// needs: a few iterations do not, because threads fall into another rhythm than they start with. A first repetition that
/// is much too short is one more trial.
class TimedRun {
public:
  /// `iterate(thread, iteration)` runs an iteration, `meet(thread)` waits for all threads of all processes.
  TimedRun(int threads, TimedRunParameters parameters, std::function<void(int, std::int64_t)> iterate,
           std::function<void(int)> meet);

  void run_thread(int thread);
  /// Iterations so far with warm-up and trials; every thread has run as many.
  [[nodiscard]] std::int64_t iterations_run() const {
    return warmup_iterations_ + parameters_.repetitions * result_.iterations;
  }
  [[nodiscard]] const TimedRunResult& result() const { return result_; }

private:
  void warm_up(int thread);
  void find_iterations(int thread);
  void plan(double share);
  void judge();
  void repeat(int thread, std::int64_t first_iteration);
  void note_repetition(std::int64_t start_ns);
  [[nodiscard]] std::int64_t iterations_in(double length_s) const;

  TimedRunParameters parameters_;
  std::function<void(int, std::int64_t)> iterate_;
  std::function<void(int)> meet_;
  ThreadBarrier barrier_;
  std::vector<std::vector<std::int64_t>> ends_ns_; ///< by thread
  std::int64_t warmup_iterations_;                 ///< so far, with those of trials
  int trials_ = 0;
  bool is_trying_ = false;
  double planned_share_ = 1; ///< of a repetition's length, that the trial under way was planned to take
  double iteration_s_ = 0; ///< what is known of it
  TimedRunResult result_;
};

} // namespace contend::native
