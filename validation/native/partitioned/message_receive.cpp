// Persistent receives of equal parts of the buffer.
#include "partitioned/transfer.hpp"

namespace contend::native {

namespace {

class MessageReceive final : public ReceiveSide {
public:
  MessageReceive(std::span<std::byte> buffer, std::int64_t messages)
      : requests_(static_cast<std::size_t>(messages), MPI_REQUEST_NULL) {
    const std::size_t bytes = buffer.size() / requests_.size();
    for (std::size_t message = 0; message < requests_.size(); ++message) {
      MPI_Recv_init(buffer.data() + message * bytes, static_cast<int>(bytes), MPI_BYTE, 0, static_cast<int>(message),
                    MPI_COMM_WORLD, &requests_[message]);
    }
  }
  MessageReceive(const MessageReceive&) = delete;
  MessageReceive& operator=(const MessageReceive&) = delete;
  ~MessageReceive() override {
    for (MPI_Request& request : requests_) {
      MPI_Request_free(&request);
    }
  }
  void start() override { MPI_Startall(static_cast<int>(requests_.size()), requests_.data()); }
  void wait_first() override {
    int index = 0;
    MPI_Waitany(static_cast<int>(requests_.size()), requests_.data(), &index, MPI_STATUS_IGNORE);
  }
  void wait() override { MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); }

private:
  std::vector<MPI_Request> requests_;
};

} // namespace

std::unique_ptr<ReceiveSide> make_message_receive(std::span<std::byte> buffer, std::int64_t messages) {
  return std::make_unique<MessageReceive>(buffer, messages);
}

} // namespace contend::native
