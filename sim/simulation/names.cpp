#include "simulation/names.hpp"

#include "models/locks/lock.hpp"
#include "models/matching/matcher.hpp"
#include "models/nic/transport.hpp"
#include "models/progress/progress_engine.hpp"
#include "models/waiting/idling.hpp"
#include "models/waiting/notification.hpp"
#include "mpi/assignment.hpp"
#include "mpi/partitioned.hpp"
#include "workloads/workload.hpp"

namespace contend {

KnownNames known_names() {
  return {lock_registry().names(),         matcher_registry().names(),  progress_registry().names(),
          assignment_registry().names(),   workload_registry().names(), transport_registry().names(),
          notification_registry().names(), idling_registry().names(),   partitioned_registry().names()};
}

} // namespace contend
