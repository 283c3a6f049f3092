// An MPI_Isend of each partition, by the thread that has filled it.
#pragma once

#include "workloads/transfers/message_transfer.hpp"
#include "workloads/transfers/nonblocking_receive.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace contend {

class MultiSendTransfer final : public MessageTransfer {
public:
  explicit MultiSendTransfer(const BufferTransferParts& parts)
      : MessageTransfer(parts, parts.shape.send_partitions), send_(sending()), receive_(receiving()) {}

  [[nodiscard]] SendSide& sender() override { return send_; }
  [[nodiscard]] ReceiveSide& receiver() override { return receive_; }

private:
  class Send final : public SendSide {
  public:
    explicit Send(const MessageEnd& end) : end_(end), requests_(static_cast<std::size_t>(end.messages)) {}

    void ready(SimThread& self, int partition) override {
      requests_[static_cast<std::size_t>(partition)] =
          end_.process.isend(self, end_.communicator, end_.peer, partition, end_.bytes);
    }
    void wait(SimThread& self) override {
      end_.process.waitall(self, requests_);
      std::fill(requests_.begin(), requests_.end(), nullptr); // it has freed them
    }

  private:
    MessageEnd end_;
    std::vector<Request*> requests_; ///< by partition
  };

  Send send_;
  NonblockingReceive receive_;
};

} // namespace contend
