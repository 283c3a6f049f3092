// A message for each partition by persistent requests: MPI_Send_init and MPI_Recv_init once, MPI_Start for each buffer, that of a
// send by the thread that has filled the partition.
#pragma once

#include "workloads/transfers/message_receive.hpp"
#include "workloads/transfers/message_transfer.hpp"

#include <cstddef>
#include <vector>

namespace contend {

class PersistentTransfer final : public MessageTransfer {
public:
  explicit PersistentTransfer(const BufferTransferParts& parts)
      : MessageTransfer(parts, parts.shape.send_partitions), send_(sending()), receive_(receiving()) {}

  [[nodiscard]] SendSide& sender() override { return send_; }
  [[nodiscard]] ReceiveSide& receiver() override { return receive_; }

private:
  class Send final : public SendSide {
  public:
    explicit Send(const MessageEnd& end) : end_(end) {}

    void init(SimThread& self) override {
      for (int message = 0; message < end_.messages; ++message) {
        requests_.push_back(end_.process.send_init(self, end_.communicator, end_.peer, message, end_.bytes));
      }
    }
    void free(SimThread& self) override { free_all(self, end_.process, requests_); }
    void ready(SimThread& self, int partition) override {
      end_.process.start(self, *requests_[static_cast<std::size_t>(partition)]);
    }
    void wait(SimThread& self) override { end_.process.waitall(self, requests_); }

  private:
    MessageEnd end_;
    std::vector<Request*> requests_; ///< by partition
  };

  class Receive final : public MessageReceive {
  public:
    using MessageReceive::MessageReceive;

    void init(SimThread& self) override {
      for (int message = 0; message < end().messages; ++message) {
        requests().push_back(end().process.recv_init(self, end().communicator, end().peer, message, end().bytes));
      }
    }
    void free(SimThread& self) override { free_all(self, end().process, requests()); }
    void start(SimThread& self) override {
      for (Request* request : requests()) {
        end().process.start(self, *request);
      }
    }
  };

  static void free_all(SimThread& self, Process& process, std::vector<Request*>& requests) {
    for (Request* request : requests) {
      process.request_free(self, request);
    }
    requests.clear();
  }

  Send send_;
  Receive receive_;
};

} // namespace contend
