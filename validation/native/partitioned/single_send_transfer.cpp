// One MPI_Send of the whole buffer when all threads are done: what programs do without threads in MPI.
#include "partitioned/transfer.hpp"
#include "partitioned/workload.hpp"

namespace contend::native {

namespace {

class SingleSend final : public SendSide {
public:
  explicit SingleSend(std::span<std::byte> buffer) : buffer_(buffer) {}
  void start() override {}
  void ready(int /*partition*/) override {}
  void wait() override { MPI_Send(buffer_.data(), static_cast<int>(buffer_.size()), MPI_BYTE, 1, 0, MPI_COMM_WORLD); }

private:
  std::span<std::byte> buffer_;
};

} // namespace

std::unique_ptr<SendSide> make_single_send(const PartitionedWorkload& /*workload*/, std::span<std::byte> buffer) {
  return std::make_unique<SingleSend>(buffer);
}

} // namespace contend::native
