#include "models/coroutines/blocking.hpp"
#include "models/coroutines/round_robin.hpp"

namespace contend {

Registry<SchedulingPolicyFactory>& scheduling_policy_registry() {
  static Registry<SchedulingPolicyFactory> registry{
      {"block", make_scheduling_policy<Blocking>},
      {"round-robin", make_scheduling_policy<RoundRobin>},
  };
  return registry;
}

} // namespace contend
