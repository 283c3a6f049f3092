#include "models/locks/adaptive_mutex.hpp"
#include "models/locks/blocking_ticket_lock.hpp"
#include "models/locks/clh_lock.hpp"
#include "models/locks/distributed_mutex.hpp"
#include "models/locks/flat_combining.hpp"
#include "models/locks/mcs_lock.hpp"
#include "models/locks/mutex3.hpp"
#include "models/locks/parking_lot_mutex.hpp"
#include "models/locks/priority_lock.hpp"
#include "models/locks/pthread_mutex.hpp"
#include "models/locks/queued_mutex.hpp"
#include "models/locks/queued_spinlock.hpp"
#include "models/locks/shared_mutex.hpp"
#include "models/locks/tas_lock.hpp"
#include "models/locks/ticket_lock.hpp"
#include "models/locks/ttas_futex_lock.hpp"
#include "models/locks/ttas_lock.hpp"

namespace contend {

Registry<LockFactory>& lock_registry() {
  static Registry<LockFactory> registry{
      {"adaptive", make_lock<AdaptiveMutex>},
      {"clh", make_lock<ClhLock>},
      {"distributed-mutex", make_lock<DistributedMutex>},
      {"flat-combining", make_lock<FlatCombining>},
      {"flat-combining-pooled", make_lock<PooledFlatCombining>},
      {"mcs", make_lock<McsLock>},
      {"mutex3", make_lock<Mutex3>},
      {"parking-lot", make_lock<ParkingLotMutex>},
      {"priority", make_lock<PriorityLock>},
      {"pthread-mutex", make_lock<PthreadMutex>},
      {"queued-mutex", make_lock<QueuedMutex>},
      {"queued-spinlock", make_lock<QueuedSpinlock>},
      {"shared-mutex", make_lock<SharedMutex>},
      {"tas", make_lock<TasLock>},
      {"tas-bit", make_lock<TasBitLock>},
      {"ticket", make_lock<TicketLock>},
      {"ticket-blocking", make_lock<BlockingTicketLock>},
      {"ticket-yield", make_lock<TicketYieldLock>},
      {"ttas", make_lock<TtasLock>},
      {"ttas-eager", make_lock<EagerTtasLock>},
      {"ttas-futex", make_lock<TtasFutexLock>},
      {"ttas-yield", make_lock<TtasYieldLock>},
  };
  return registry;
}

} // namespace contend
