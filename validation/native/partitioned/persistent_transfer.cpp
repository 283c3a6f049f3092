// A persistent send per partition, started by the partition's thread: how the study's first library does it.
#include "partitioned/transfer.hpp"
#include "partitioned/workload.hpp"

namespace contend::native {

namespace {

class PersistentSend final : public SendSide {
public:
  PersistentSend(const PartitionedWorkload& workload, std::span<std::byte> buffer)
      : requests_(static_cast<std::size_t>(workload.partitions), MPI_REQUEST_NULL) {
    const int bytes = static_cast<int>(workload.partition_bytes());
    for (std::size_t partition = 0; partition < requests_.size(); ++partition) {
      MPI_Send_init(buffer.data() + partition * static_cast<std::size_t>(bytes), bytes, MPI_BYTE, 1,
                    static_cast<int>(partition), MPI_COMM_WORLD, &requests_[partition]);
    }
  }
  PersistentSend(const PersistentSend&) = delete;
  PersistentSend& operator=(const PersistentSend&) = delete;
  ~PersistentSend() override {
    for (MPI_Request& request : requests_) {
      MPI_Request_free(&request);
    }
  }
  void start() override {}
  void ready(int partition) override { MPI_Start(&requests_[static_cast<std::size_t>(partition)]); }
  void wait() override { MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); }

private:
  std::vector<MPI_Request> requests_;
};

} // namespace

std::unique_ptr<SendSide> make_persistent_send(const PartitionedWorkload& workload, std::span<std::byte> buffer) {
  return std::make_unique<PersistentSend>(workload, buffer);
}

} // namespace contend::native
