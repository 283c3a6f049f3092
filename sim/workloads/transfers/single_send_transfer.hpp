// One MPI_Send with the whole buffer, once all threads have filled their parts.
#pragma once

#include "workloads/transfers/message_transfer.hpp"
#include "workloads/transfers/nonblocking_receive.hpp"

namespace contend {

class SingleSendTransfer final : public MessageTransfer {
public:
  static constexpr BufferTransferTraits traits{.one_thread_sends = true};

  explicit SingleSendTransfer(const BufferTransferParts& parts)
      : MessageTransfer(parts, 1), send_(sending()), receive_(receiving()) {}

  [[nodiscard]] SendSide& sender() override { return send_; }
  [[nodiscard]] ReceiveSide& receiver() override { return receive_; }

private:
  class Send final : public SendSide {
  public:
    explicit Send(const MessageEnd& end) : end_(end) {}

    void ready(SimThread& /*self*/, int /*partition*/) override {}
    void wait(SimThread& self) override { end_.process.send(self, end_.communicator, end_.peer, 0, end_.bytes); }

  private:
    MessageEnd end_;
  };

  Send send_;
  NonblockingReceive receive_;
};

} // namespace contend
