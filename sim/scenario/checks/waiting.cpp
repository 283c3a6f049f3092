// The workload that times waits and tests.
#include "scenario/checks/check.hpp"

#include <array>

namespace contend::scenario {

namespace {

Problem more_complete_than_posted(const PointConfig& point) {
  const WaitingWorkloadParameters& workload = point.workload.waiting;
  if (workload.complete <= workload.requests)
    return {};
  return number(workload.complete) + " requests cannot be complete of " + number(workload.requests);
}

/// Waits return when something is complete.
Problem waits_for_nothing(const PointConfig& point) {
  const WaitingWorkloadParameters& workload = point.workload.waiting;
  const bool for_all = workload.call == "waitall" || workload.call == "sync-waitall";
  if (for_all && workload.complete < workload.requests)
    return workload.call + " returns when all " + number(workload.requests) + " requests are complete, not " +
           number(workload.complete);
  if (workload.call.rfind("wait", 0) == 0 && workload.complete == 0)
    return workload.call + " does not return when nothing is complete";
  return {};
}

/// A sync object takes and gives back a request that is not complete.
Problem attaches_nothing(const PointConfig& point) {
  const WaitingWorkloadParameters& workload = point.workload.waiting;
  if ((workload.call == "sync-attach" || workload.call == "sync-detach") && workload.complete >= workload.requests)
    return workload.call + " needs a request that is not complete, and all " + number(workload.requests) + " are";
  return {};
}

} // namespace

std::span<const Check> waiting_checks() {
  static constexpr std::array checks{Check{"machine.nic.max_contexts", two_processes_with_too_few_contexts, "waiting"},
                                     Check{"workload.complete", attaches_nothing, "waiting"},
                                     Check{"library.thread_level", progress_thread_at_level_single, "waiting"},
                                     Check{"placement.cores", more_processes_than_cores, "waiting"},
                                     Check{"workload.complete", more_complete_than_posted, "waiting"},
                                     Check{"workload.complete", waits_for_nothing, "waiting"}};
  return checks;
}

} // namespace contend::scenario
