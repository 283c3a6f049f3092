// What ways of transferring a buffer by messages share.
#pragma once

#include "core/failures.hpp"
#include "mpi/world.hpp"
#include "workloads/transfers/transfer.hpp"

#include <cstdint>
#include <string>

namespace contend {

/// One side's end of the messages that make up a buffer: equal parts of it, part m with tag m.
struct MessageEnd {
  Process& process;
  int communicator = 0;
  int peer = 0; ///< rank
  int messages = 1;
  std::int64_t bytes = 0; ///< of each
};

/// A transfer by the same number of messages for each buffer.
class MessageTransfer : public BufferTransfer {
public:
  void check(std::int64_t buffers) const final {
    const std::int64_t all = sending_.messages * buffers;
    if (const std::int64_t sent = sending_.process.counters().sent; sent != all) {
      throw InvariantViolation(std::to_string(sent) + " of " + std::to_string(all) + " messages were sent");
    }
  }

protected:
  MessageTransfer(const BufferTransferParts& parts, int messages)
      : sending_(end_of(parts, parts.shape.sender, parts.shape.receiver, messages)),
        receiving_(end_of(parts, parts.shape.receiver, parts.shape.sender, messages)) {}

  [[nodiscard]] const MessageEnd& sending() const { return sending_; }
  [[nodiscard]] const MessageEnd& receiving() const { return receiving_; }

private:
  static MessageEnd end_of(const BufferTransferParts& parts, int rank, int peer, int messages) {
    return {parts.world.process(rank), parts.shape.communicator, peer, messages, parts.shape.bytes / messages};
  }

  MessageEnd sending_;
  MessageEnd receiving_;
};

} // namespace contend
