// MPI 4's own partitioned communication.
#include "partitioned/transfer.hpp"
#include "partitioned/workload.hpp"
#include "support/failure.hpp"

namespace contend::native {

#if CONTEND_HAS_PARTITIONED

namespace {

constexpr int tag = 1;

class PartitionedSend final : public SendSide {
public:
  PartitionedSend(const PartitionedWorkload& workload, std::span<std::byte> buffer) {
    MPI_Psend_init(buffer.data(), static_cast<int>(workload.partitions), workload.partition_bytes(), MPI_BYTE, 1, tag,
                   MPI_COMM_WORLD, MPI_INFO_NULL, &request_);
  }
  PartitionedSend(const PartitionedSend&) = delete;
  PartitionedSend& operator=(const PartitionedSend&) = delete;
  ~PartitionedSend() override { MPI_Request_free(&request_); }
  void start() override { MPI_Start(&request_); }
  void ready(int partition) override { MPI_Pready(partition, request_); }
  void wait() override { MPI_Wait(&request_, MPI_STATUS_IGNORE); }

private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

class PartitionedReceive final : public ReceiveSide {
public:
  PartitionedReceive(const PartitionedWorkload& workload, std::span<std::byte> buffer)
      : partitions_(static_cast<int>(workload.receive_partitions)) {
    MPI_Precv_init(buffer.data(), partitions_, workload.buffer_size / workload.receive_partitions, MPI_BYTE, 0, tag,
                   MPI_COMM_WORLD, MPI_INFO_NULL, &request_);
  }
  PartitionedReceive(const PartitionedReceive&) = delete;
  PartitionedReceive& operator=(const PartitionedReceive&) = delete;
  ~PartitionedReceive() override { MPI_Request_free(&request_); }
  void start() override { MPI_Start(&request_); }
  void wait_first() override {
    int arrived = 0;
    for (int partition = 0; arrived == 0; partition = (partition + 1) % partitions_) {
      MPI_Parrived(request_, partition, &arrived);
    }
  }
  void wait() override { MPI_Wait(&request_, MPI_STATUS_IGNORE); }

private:
  int partitions_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

} // namespace

bool has_partitioned() { return true; }

std::unique_ptr<SendSide> make_partitioned_send(const PartitionedWorkload& workload, std::span<std::byte> buffer) {
  return std::make_unique<PartitionedSend>(workload, buffer);
}

std::unique_ptr<ReceiveSide> make_partitioned_receive(const PartitionedWorkload& workload,
                                                      std::span<std::byte> buffer) {
  return std::make_unique<PartitionedReceive>(workload, buffer);
}

#else

namespace {

[[noreturn]] void refuse() {
  throw Failure(ExitCode::not_supported, "the MPI library has no partitioned communication (MPI_Psend_init)", true);
}

} // namespace

bool has_partitioned() { return false; }

std::unique_ptr<SendSide> make_partitioned_send(const PartitionedWorkload& /*workload*/,
                                                std::span<std::byte> /*buffer*/) {
  refuse();
}

std::unique_ptr<ReceiveSide> make_partitioned_receive(const PartitionedWorkload& /*workload*/,
                                                      std::span<std::byte> /*buffer*/) {
  refuse();
}

#endif

} // namespace contend::native
