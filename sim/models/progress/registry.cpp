#include "models/progress/concurrent.hpp"
#include "models/progress/every_nth.hpp"
#include "models/progress/offload.hpp"
#include "models/progress/ownership.hpp"
#include "models/progress/per_target.hpp"
#include "models/progress/request_lock.hpp"
#include "models/progress/serial_blocking.hpp"
#include "models/progress/serial_try_lock.hpp"

namespace contend {

Registry<ProgressFactory>& progress_registry() {
  static Registry<ProgressFactory> registry{
      {"concurrent", make_progress<ConcurrentProgress>},
      {"every-nth", make_progress<EveryNthProgress>},
      {"offload-thread", make_progress<OffloadProgress>},
      {"ownership", make_progress<OwnershipProgress>},
      {"per-target", make_progress<PerTargetProgress>},
      {"request-lock", make_progress<RequestLockProgress>},
      {"serial-blocking", make_progress<SerialBlockingProgress>},
      {"serial-try-lock", make_progress<SerialTryLockProgress>},
  };
  return registry;
}

} // namespace contend
