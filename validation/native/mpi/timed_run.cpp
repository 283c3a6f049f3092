#include "mpi/timed_run.hpp"

#include "mpi/iteration_times.hpp"
#include "support/clock.hpp"

#include <algorithm>
#include <utility>

namespace contend::native {

namespace {

// A trial is to take a quarter of a repetition, and is believed from a tenth on.
constexpr double trial_share = 0.25;
constexpr double believed_share = 0.1;
constexpr int most_trials = 4;

} // namespace

TimedRun::TimedRun(int threads, TimedRunParameters parameters, std::function<void(int, std::int64_t)> iterate,
                   std::function<void(int)> meet)
    : parameters_(parameters), iterate_(std::move(iterate)), meet_(std::move(meet)), barrier_(threads),
      ends_ns_(static_cast<std::size_t>(threads)), warmup_iterations_(parameters.warmup_iterations) {
  result_.iterations = parameters_.iterations;
}

void TimedRun::run_thread(int thread) {
  warm_up(thread);
  meet_(thread);
  if (parameters_.target_seconds > 0 && parameters_.warmup_iterations > 0) {
    find_iterations(thread);
  }
  for (std::int64_t repetition = 0; repetition < parameters_.repetitions; ++repetition) {
    repeat(thread, warmup_iterations_ + repetition * result_.iterations);
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
    iteration_s_ = seconds(now_ns() - start_ns) / static_cast<double>(parameters_.warmup_iterations - half);
  }
}

/// Each trial is as long as the one before lets expect, until one was long enough to be believed.
void TimedRun::find_iterations(int thread) {
  if (thread == 0) {
    plan_trial();
  }
  barrier_.wait();
  while (is_trying_) {
    repeat(thread, warmup_iterations_);
    if (thread == 0) {
      judge_trial();
    }
    barrier_.wait();
  }
}

void TimedRun::plan_trial() {
  result_.iterations = iterations_in(trial_share * parameters_.target_seconds);
  MPI_Bcast(&result_.iterations, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  is_trying_ = true;
}

void TimedRun::judge_trial() {
  warmup_iterations_ += result_.iterations;
  // The same on every process: note_repetition made it common.
  const double took_s = result_.elapsed_s.back();
  result_.elapsed_s.pop_back();
  result_.iteration_s.pop_back();
  iteration_s_ = took_s / static_cast<double>(result_.iterations);
  const bool is_believed = took_s >= believed_share * parameters_.target_seconds;
  const bool is_largest = result_.iterations >= parameters_.iterations;
  if (++trials_ < most_trials && !is_believed && !is_largest) {
    plan_trial();
    return;
  }
  is_trying_ = false;
  result_.iterations = iterations_in(parameters_.target_seconds);
  MPI_Bcast(&result_.iterations, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
}

std::int64_t TimedRun::iterations_in(double length_s) const {
  const double wanted = std::min(length_s / iteration_s_, static_cast<double>(parameters_.iterations));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(wanted));
}

void TimedRun::repeat(int thread, std::int64_t first_iteration) {
  std::vector<std::int64_t>& ends = ends_ns_[static_cast<std::size_t>(thread)];
  ends.clear();
  ends.reserve(static_cast<std::size_t>(result_.iterations));
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
