#include "models/locks/mcs_lock.hpp"
#include "models/locks/pthread_mutex.hpp"
#include "models/locks/ticket_lock.hpp"
#include "models/locks/ttas_lock.hpp"

namespace contend {

Registry<LockFactory>& lock_registry() {
  static Registry<LockFactory> registry{
      {"mcs", make_lock<McsLock>},
      {"pthread-mutex", make_lock<PthreadMutex>},
      {"ticket", make_lock<TicketLock>},
      {"ttas", make_lock<TtasLock>},
  };
  return registry;
}

} // namespace contend
