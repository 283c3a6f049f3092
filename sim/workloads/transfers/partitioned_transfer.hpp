// MPI 4's partitioned communication, by the library's design of it.
#pragma once

#include "mpi/partitioned.hpp"
#include "mpi/world.hpp"
#include "workloads/transfers/transfer.hpp"

namespace contend {

class PartitionedTransfer final : public BufferTransfer {
public:
  static constexpr BufferTransferTraits traits{.by_partitions = true};

  explicit PartitionedTransfer(const BufferTransferParts& parts)
      : PartitionedTransfer(parts.world.partitioned(parts.world.create_partitioned(parts.shape))) {}

  [[nodiscard]] SendSide& sender() override { return send_; }
  [[nodiscard]] ReceiveSide& receiver() override { return receive_; }

private:
  class Send final : public SendSide {
  public:
    explicit Send(PartitionedSend& request) : request_(request) {}

    void init(SimThread& self) override { request_.init(self); }
    void free(SimThread& self) override { request_.free(self); }
    void start(SimThread& self) override { request_.start(self); }
    void ready(SimThread& self, int partition) override { request_.ready(self, partition); }
    void wait(SimThread& self) override { request_.wait(self); }

  private:
    PartitionedSend& request_;
  };

  class Receive final : public ReceiveSide {
  public:
    explicit Receive(PartitionedReceive& request) : request_(request) {}

    void init(SimThread& self) override { request_.init(self); }
    void free(SimThread& self) override { request_.free(self); }
    void start(SimThread& self) override { request_.start(self); }
    void poll_until_any(SimThread& self) override { request_.poll_until_any(self); }
    void wait(SimThread& self) override { request_.wait(self); }

  private:
    PartitionedReceive& request_;
  };

  explicit PartitionedTransfer(PartitionedOperation& operation)
      : send_(operation.sender()), receive_(operation.receiver()) {}

  Send send_;
  Receive receive_;
};

} // namespace contend
