// Contended locks and lines.
#include "scenario/checks/check.hpp"

#include <array>

namespace contend::scenario {

namespace {

bool takes_a_lock(const LockUseParameters& workload) {
  return workload.operation == "lock" || workload.operation == "try-lock" || workload.operation == "execute";
}

Problem more_contenders_than_cores(const PointConfig& point) {
  return more_threads_than_cores(point, point.workload.lock_use.threads);
}

/// Threads of this workload make no calls.
Problem progress_thread_without_calls(const PointConfig& point, const StatedTraits& traits) {
  if (!has_progress_thread(point, traits))
    return {};
  return R"(a workload "lock" makes no calls of the library, so that a progress thread would only take a core from what )"
         R"(is measured: library.progress.engine must be another than ")" +
         point.library.progress.engine + "\"";
}

Problem atomics_without_lines(const PointConfig& point) {
  const LockUseParameters& workload = point.workload.lock_use;
  if (takes_a_lock(workload) || workload.lines > 0)
    return {};
  return "the operation \"" + workload.operation + "\" needs at least one line to work on";
}

Problem section_without_lock(const PointConfig& point) {
  const LockUseParameters& workload = point.workload.lock_use;
  if (takes_a_lock(workload) || workload.section == Duration{})
    return {};
  return "the operation \"" + workload.operation + "\" has no critical section; give workload.delay";
}

Problem retry_without_attempts(const PointConfig& point) {
  const LockUseParameters& workload = point.workload.lock_use;
  if (workload.operation == "try-lock" || workload.operation == "compare-and-swap" ||
      workload.operation == "fetch-and-xor" || workload.operation == "take-turns" || workload.retry == Duration{})
    return {};
  return R"(only the operations "try-lock", "compare-and-swap", "fetch-and-xor" and "take-turns" make attempts, not ")" +
         workload.operation + "\"";
}

/// Who waits for a turn that never comes waits for ever.
Problem turns_that_end(const PointConfig& point) {
  const LockUseParameters& workload = point.workload.lock_use;
  if (workload.operation != "take-turns" || (workload.stop == "each" && workload.choice == "grouped"))
    return {};
  return R"(threads that take turns need workload.stop "each" and workload.choice "grouped": with others one would wait for a turn )"
         "that never comes";
}

Problem trial_without_time(const PointConfig& point) {
  const LockUseParameters& workload = point.workload.lock_use;
  if ((workload.stop == "trial") == (workload.trial > Duration{}))
    return {};
  return workload.stop == "trial"
             ? R"(a "trial" needs a time, give workload.trial)"
             : R"(only with the stop "trial" does a time end the run, not with ")" + workload.stop + "\"";
}

Problem warm_up_of_timed_run(const PointConfig& point) {
  const LockUseParameters& workload = point.workload.lock_use;
  const bool trial = workload.stop == "trial";
  if (workload.warmup_acquisitions == 0 || (!trial && workload.begin != "released"))
    return {};
  return std::string("with the ") + (trial ? R"(stop "trial")" : R"(begin "released")") +
         " all operations are timed; set workload.warmup_acquisitions to 0";
}

Problem released_on_own_cores(const PointConfig& point) {
  if (point.workload.lock_use.begin != "released" || point.placement.shares_cores())
    return {};
  return R"("released" has a thread more, which creates the others)" + std::string(how_to_share);
}

Problem creation_without_release(const PointConfig& point) {
  const LockUseParameters& workload = point.workload.lock_use;
  if (workload.begin == "released" || (workload.create == Duration{} && workload.rest == Duration{}))
    return {};
  return R"(only with the begin "released" does a thread create the others, not with ")" + workload.begin + "\"";
}

/// Locks and their lines are simulated objects.
Problem too_many_lines(const PointConfig& point) {
  constexpr std::int64_t most = 4'000'000;
  const LockUseParameters& workload = point.workload.lock_use;
  const std::int64_t lines = std::int64_t{workload.locks} * (std::int64_t{workload.lines} + 1);
  if (lines <= most)
    return {};
  return number(workload.locks) + " locks with " + number(workload.lines) + " lines each need " + number(lines) +
         " simulated cache lines; at most " + number(most) + " are supported";
}

Problem contention_longer_than_time(const PointConfig& point) {
  const LockUseParameters& workload = point.workload.lock_use;
  const double operation = (workload.section + workload.delay + workload.retry).in_seconds() +
                           workload.lines * 4 * point.machine.cache.transfer_remote.in_seconds();
  const double operations = static_cast<double>(workload.threads) *
                            (static_cast<double>(workload.acquisitions) + workload.warmup_acquisitions);
  if (operation * operations <= 1e6 && workload.trial.in_seconds() <= 1e6)
    return {};
  return "the operations take more than the 1000000 seconds that can be simulated";
}

} // namespace

std::span<const Check> lock_use_checks() {
  static constexpr std::array checks{Check{"workload.threads", more_contenders_than_cores, "lock"},
                                     Check{"library.progress.engine", progress_thread_without_calls, "lock"},
                                     Check{"workload.lines", atomics_without_lines, "lock"},
                                     Check{"workload.section", section_without_lock, "lock"},
                                     Check{"workload.retry", retry_without_attempts, "lock"},
                                     Check{"workload.operation", turns_that_end, "lock"},
                                     Check{"workload.trial", trial_without_time, "lock"},
                                     Check{"workload.warmup_acquisitions", warm_up_of_timed_run, "lock"},
                                     Check{"workload.begin", released_on_own_cores, "lock"},
                                     Check{"workload.begin", creation_without_release, "lock"},
                                     Check{"workload.locks", too_many_lines, "lock"},
                                     Check{"workload.acquisitions", contention_longer_than_time, "lock"}};
  return checks;
}

} // namespace contend::scenario
