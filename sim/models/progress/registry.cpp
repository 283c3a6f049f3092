#include "models/progress/concurrent.hpp"
#include "models/progress/offload.hpp"
#include "models/progress/ownership.hpp"
#include "models/progress/per_target.hpp"
#include "models/progress/serial_blocking.hpp"
#include "models/progress/serial_try_lock.hpp"

namespace contend {

namespace {

template <typename Kind>
std::unique_ptr<ProgressEngine> make(const ProgressParts& parts) {
  return std::make_unique<Kind>(parts);
}

} // namespace

Registry<ProgressFactory>& progress_registry() {
  static Registry<ProgressFactory> registry{
      {"concurrent", make<ConcurrentProgress>},
      {"offload-thread", make<OffloadProgress>},
      {"ownership", make<OwnershipProgress>},
      {"per-target", make<PerTargetProgress>},
      {"serial-blocking", make<SerialBlockingProgress>},
      {"serial-try-lock", make<SerialTryLockProgress>},
  };
  return registry;
}

} // namespace contend
