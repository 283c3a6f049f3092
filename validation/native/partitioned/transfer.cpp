#include "partitioned/transfer.hpp"

#include "partitioned/workload.hpp"

namespace contend::native {

const std::vector<std::string>& transfer_names() {
  static const std::vector<std::string> names{"partitioned", "persistent", "multi-send", "single-send"};
  return names;
}

std::unique_ptr<SendSide> make_send_side(const PartitionedWorkload& workload, std::span<std::byte> buffer) {
  if (workload.method == "partitioned") {
    return make_partitioned_send(workload, buffer);
  }
  if (workload.method == "persistent") {
    return make_persistent_send(workload, buffer);
  }
  if (workload.method == "multi-send") {
    return make_multi_send(workload, buffer);
  }
  return make_single_send(workload, buffer);
}

std::unique_ptr<ReceiveSide> make_receive_side(const PartitionedWorkload& workload, std::span<std::byte> buffer) {
  if (workload.method == "partitioned") {
    return make_partitioned_receive(workload, buffer);
  }
  return make_message_receive(buffer, workload.method == "single-send" ? 1 : workload.partitions);
}

} // namespace contend::native
