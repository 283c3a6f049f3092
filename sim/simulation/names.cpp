#include "simulation/names.hpp"

#include "models/coroutines/scheduling_policy.hpp"
#include "models/locks/lock.hpp"
#include "models/matching/matcher.hpp"
#include "models/matching/process_queues.hpp"
#include "models/nic/transport.hpp"
#include "models/progress/progress_engine.hpp"
#include "models/waiting/idling.hpp"
#include "models/waiting/notification.hpp"
#include "mpi/assignment.hpp"
#include "mpi/partitioned.hpp"
#include "mpi/window_path.hpp"
#include "workloads/programs/program.hpp"
#include "workloads/transfers/transfer.hpp"
#include "workloads/workload.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace contend {

namespace {

StatedTraits stated_traits() {
  const auto& progress = progress_registry();
  const auto& matching = matcher_registry();
  const auto& transfers = buffer_transfer_registry();
  return {.own_thread = progress.names_with(&ProgressTraits::own_thread),
          .limits_pollers = progress.names_with(&ProgressTraits::limits_pollers),
          .threads_idle = progress.names_with(&ProgressTraits::threads_idle),
          .threads_idle_beyond_limit = progress.names_with(&ProgressTraits::threads_idle_beyond_limit),
          .reads_flags = progress.names_with(&ProgressTraits::reads_flags),
          .locks_requests = progress.names_with(&ProgressTraits::locks_requests),
          .queues_by_source = matching.names_with(&MatcherTraits::queues_by_source),
          .in_interface = matching.names_with(&MatcherTraits::in_interface),
          .by_thread = assignment_registry().names_with(&AssignmentTraits::by_thread),
          .request_flags = notification_registry().names_with(&NotificationTraits::request_flags),
          .takes_tasks = idling_registry().names_with(&IdlingTraits::takes_tasks),
          .puts = partitioned_registry().names_with(&PartitionedTraits::puts),
          .by_partitions = transfers.names_with(&BufferTransferTraits::by_partitions),
          .one_thread_sends = transfers.names_with(&BufferTransferTraits::one_thread_sends)};
}

} // namespace

KnownNames known_names() {
  std::vector<std::string> workloads = workload_registry().names();
  const std::vector<std::string> programs = program_registry().names();
  workloads.insert(workloads.end(), programs.begin(), programs.end());
  std::sort(workloads.begin(), workloads.end());
  return {lock_registry().names(),
          matcher_registry().names(),
          progress_registry().names(),
          assignment_registry().names(),
          std::move(workloads),
          transport_registry().names(),
          notification_registry().names(),
          idling_registry().names(),
          partitioned_registry().names(),
          scheduling_policy_registry().names(),
          process_queues_registry().names(),
          window_path_registry().names(),
          buffer_transfer_registry().names(),
          stated_traits()};
}

} // namespace contend
