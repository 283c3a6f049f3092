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
class TimedRun {
public:
  /// `iterate(thread, iteration)` runs an iteration, `meet(thread)` waits for all threads of all processes.
  TimedRun(int threads, TimedRunParameters parameters, std::function<void(int, std::int64_t)> iterate,
           std::function<void(int)> meet);

  void run_thread(int thread);
  /// Iterations so far with the warm-up; every thread has run as many.
  [[nodiscard]] std::int64_t iterations_run() const {
    return parameters_.warmup_iterations + parameters_.repetitions * result_.iterations;
  }
  [[nodiscard]] const TimedRunResult& result() const { return result_; }

private:
  void warm_up(int thread);
  void agree_on_iterations();
  void repeat(int thread, std::int64_t first_iteration);
  void note_repetition(std::int64_t start_ns);

  TimedRunParameters parameters_;
  std::function<void(int, std::int64_t)> iterate_;
  std::function<void(int)> meet_;
  ThreadBarrier barrier_;
  std::vector<std::vector<std::int64_t>> ends_ns_; ///< by thread
  std::int64_t measured_warmup_ = 0;
  double measured_warmup_s_ = 0;
  TimedRunResult result_;
};

} // namespace contend::native
