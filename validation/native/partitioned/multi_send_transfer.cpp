// An MPI_Isend per partition, by the partition's thread.
#include "partitioned/transfer.hpp"
#include "partitioned/workload.hpp"

namespace contend::native {

namespace {

class MultiSend final : public SendSide {
public:
  MultiSend(const PartitionedWorkload& workload, std::span<std::byte> buffer)
      : bytes_(static_cast<int>(workload.partition_bytes())), buffer_(buffer),
        requests_(static_cast<std::size_t>(workload.partitions), MPI_REQUEST_NULL) {}
  void start() override {}
  void ready(int partition) override {
    const auto index = static_cast<std::size_t>(partition);
    MPI_Isend(buffer_.data() + index * static_cast<std::size_t>(bytes_), bytes_, MPI_BYTE, 1, partition, MPI_COMM_WORLD,
              &requests_[index]);
  }
  void wait() override { MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); }

private:
  int bytes_;
  std::span<std::byte> buffer_;
  std::vector<MPI_Request> requests_;
};

} // namespace

std::unique_ptr<SendSide> make_multi_send(const PartitionedWorkload& workload, std::span<std::byte> buffer) {
  return std::make_unique<MultiSend>(workload, buffer);
}

} // namespace contend::native
