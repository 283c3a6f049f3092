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
#include "workloads/workload.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace contend {

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
          window_path_registry().names()};
}

} // namespace contend
