#include "models/waiting/counter_notification.hpp"
#include "models/waiting/flag_notification.hpp"
#include "models/waiting/guarded_sleep_idling.hpp"
#include "models/waiting/sleep_idling.hpp"
#include "models/waiting/spin_idling.hpp"
#include "models/waiting/steal_idling.hpp"

namespace contend {

Registry<NotificationFactory>& notification_registry() {
  static Registry<NotificationFactory> registry{
      {"request-flags", make_notification<FlagNotification>},
      {"sync-object", make_notification<CounterNotification>},
  };
  return registry;
}

Registry<IdlingFactory>& idling_registry() {
  static Registry<IdlingFactory> registry{
      {"guarded-sleep", make_idling<GuardedSleepIdling>},
      {"sleep", make_idling<SleepIdling>},
      {"spin", make_idling<SpinIdling>},
      {"steal", make_idling<StealIdling>},
  };
  return registry;
}

} // namespace contend
