#include "mpi/timed_run.hpp"

#include "mpi/iteration_times.hpp"
#include "support/clock.hpp"

#include <algorithm>
#include <utility>

namespace contend::native {

TimedRun::TimedRun(int threads, TimedRunParameters parameters, std::function<void(int, std::int64_t)> iterate,
                   std::function<void(int)> meet)
    : parameters_(parameters), iterate_(std::move(iterate)), meet_(std::move(meet)), barrier_(threads),
      ends_ns_(static_cast<std::size_t>(threads)) {}

void TimedRun::run_thread(int thread) {
  warm_up(thread);
  meet_(thread);
  if (thread == 0) {
    agree_on_iterations();
  }
  barrier_.wait();
  ends_ns_[static_cast<std::size_t>(thread)].reserve(static_cast<std::size_t>(result_.iterations));
  for (std::int64_t repetition = 0; repetition < parameters_.repetitions; ++repetition) {
    repeat(thread, parameters_.warmup_iterations + repetition * result_.iterations);
  }
}

void TimedRun::warm_up(int thread) {
  const std::int64_t half = parameters_.warmup_iterations / 2;
  std::int64_t start_ns = 0;
  for (std::int64_t iteration = 0; iteration < parameters_.warmup_iterations; ++iteration) {
    if (thread == 0) {
      parameters_.hooks.begin_step(iteration);
      start_ns = iteration == half ? now_ns() : start_ns;
    }
    iterate_(thread, iteration);
  }
  if (thread == 0 && parameters_.warmup_iterations > 0) {
    measured_warmup_ = parameters_.warmup_iterations - half;
    measured_warmup_s_ = seconds(now_ns() - start_ns);
  }
}

void TimedRun::agree_on_iterations() {
  result_.iterations = parameters_.iterations;
  if (parameters_.target_seconds > 0 && measured_warmup_ > 0) {
    const double wanted = parameters_.target_seconds * static_cast<double>(measured_warmup_) / measured_warmup_s_;
    result_.iterations = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(std::min(wanted, static_cast<double>(parameters_.iterations))));
  }
  MPI_Bcast(&result_.iterations, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
}

void TimedRun::repeat(int thread, std::int64_t first_iteration) {
  std::vector<std::int64_t>& ends = ends_ns_[static_cast<std::size_t>(thread)];
  ends.clear();
  meet_(thread);
  const std::int64_t start_ns = now_ns();
  for (std::int64_t iteration = 0; iteration < result_.iterations; ++iteration) {
    if (thread == 0) {
      parameters_.hooks.begin_step(first_iteration + iteration);
    }
    iterate_(thread, first_iteration + iteration);
    ends.push_back(now_ns());
  }
  barrier_.wait();
  if (thread == 0) {
    note_repetition(start_ns);
  }
  barrier_.wait();
}

void TimedRun::note_repetition(std::int64_t start_ns) {
  std::int64_t end_ns = start_ns;
  std::vector<const std::vector<std::int64_t>*> threads;
  for (const auto& ends : ends_ns_) {
    end_ns = std::max(end_ns, ends.back());
    threads.push_back(&ends);
  }
  const double mine = seconds(end_ns - start_ns);
  double slowest = 0;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  result_.elapsed_s.push_back(slowest);
  result_.iteration_s.push_back(iteration_times(start_ns, threads));
}

} // namespace contend::native
