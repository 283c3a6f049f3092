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
// The first repetition was a trial, too, if it took less than half of what was wanted.
constexpr double repetition_share = 0.5;
constexpr int most_trials = 6;
// One iteration is left out of a trial, and two are the least that can tell of a rhythm.
constexpr std::int64_t least_trial_iterations = 3;

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
  const auto had =
      static_cast<std::int64_t>(result_.elapsed_s.size()); // the same on every thread: a barrier ended them
  for (std::int64_t repetition = had; repetition < parameters_.repetitions; ++repetition) {
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

/// Each trial is as long as the one before lets expect. One that was long enough to be believed leads to the first
/// repetition, and that counts unless it shows that the trials were wrong.
void TimedRun::find_iterations(int thread) {
  if (thread == 0) {
    plan(trial_share);
  }
  barrier_.wait();
  while (is_trying_) {
    repeat(thread, warmup_iterations_);
    if (thread == 0) {
      judge();
    }
    barrier_.wait();
  }
}

/// The next run of `repeat` is to take this share of a repetition.
void TimedRun::plan(double share) {
  const std::int64_t least = std::min(share < 1 ? least_trial_iterations : 1, parameters_.iterations);
  result_.iterations = std::max(least, iterations_in(share * parameters_.target_seconds));
  MPI_Bcast(&result_.iterations, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  is_trying_ = true;
  planned_share_ = share;
}

/// The longest iteration is left out: in a short trial, a single pause that the machine makes would pass for the rhythm.
void TimedRun::judge() {
  const double took_s = result_.elapsed_s.back(); // the same on every process: note_repetition made it common
  const bool is_last = ++trials_ > most_trials;
  const bool is_largest = result_.iterations >= parameters_.iterations;
  const bool is_repetition = planned_share_ == 1;
  if (is_repetition && (is_last || is_largest || took_s >= repetition_share * parameters_.target_seconds)) {
    is_trying_ = false;
    return;
  }
  const std::vector<double>& times = result_.iteration_s.back();
  const bool has_others = times.size() > 1;
  double told_s = took_s - (has_others ? *std::ranges::max_element(times) : 0);
  MPI_Bcast(&told_s, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); // all processes judge alike
  iteration_s_ = told_s / static_cast<double>(has_others ? result_.iterations - 1 : 1);
  warmup_iterations_ += result_.iterations;
  result_.elapsed_s.pop_back();
  result_.iteration_s.pop_back();
  const bool is_believed = told_s >= believed_share * parameters_.target_seconds;
  plan(is_believed || is_largest || trials_ == most_trials ? 1 : trial_share);
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
