#include "workloads/transfers/multi_send_transfer.hpp"
#include "workloads/transfers/partitioned_transfer.hpp"
#include "workloads/transfers/persistent_transfer.hpp"
#include "workloads/transfers/single_send_transfer.hpp"

namespace contend {

Registry<BufferTransferFactory>& buffer_transfer_registry() {
  static Registry<BufferTransferFactory> registry{
      {"multi-send", make_buffer_transfer<MultiSendTransfer>},
      {"partitioned", make_buffer_transfer<PartitionedTransfer>},
      {"persistent", make_buffer_transfer<PersistentTransfer>},
      {"single-send", make_buffer_transfer<SingleSendTransfer>},
  };
  return registry;
}

} // namespace contend
