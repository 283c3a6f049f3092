#include "models/matching/process_queues.hpp"

#include "models/matching/array_by_receiver.hpp"
#include "models/matching/single_list.hpp"

namespace contend {

Registry<ProcessQueuesFactory>& process_queues_registry() {
  static Registry<ProcessQueuesFactory> registry{
      {"array-by-receiver", make_process_queues<ArrayByReceiver>},
      {"single-list", make_process_queues<SingleList>},
  };
  return registry;
}

} // namespace contend
