// Partitioned communication that only counts partitions: the buffer is one message, sent when the last partition is ready
// (MPICH's device ch4: MPIDIG_mpi_pready_range, MPIDIG_part_issue_data). Threads that are ready early gain nothing.
//
//   Start (receiver): post a receive of the whole buffer, and tell the sender that it may come (clear to send)
//   Pready(p):        one atomic on a counter of what is missing: all partitions, and the receiver's leave. Who finds nothing
//                     missing sends the buffer; the calls make no progress, so that leave which nobody has taken from the
//                     transport is missing
//   Wait:             until the receiver's leave is there, then, if no Pready has, send the buffer
//   Parrived(q):      whether the whole buffer has arrived
//
// Left out: the message of MPI_Psend_init by which the two requests find each other, once, before the first start; a receive
// has its own tag here.
#include "mpi/partitioned.hpp"
#include "mpi/process.hpp"
#include "mpi/world.hpp"

#include <array>
#include <memory>
#include <utility>

namespace contend {

namespace {

constexpr int first_clearance_tag = -2000;   // negative tags are the library's own
constexpr std::int64_t clearance_bytes = 16; // both requests, MPIDIG_part_cts_msg_t

int clearance_tag(const PartitionedShape& shape) { return first_clearance_tag - shape.tag; }

class WholeBufferSend final : public PartitionedSend {
public:
  WholeBufferSend(World& world, const PartitionedShape& shape)
      : PartitionedSend(world.process(shape.sender), shape),
        missing_line_(world.engine(), process().host(), process().name() + "/partitions that are not ready") {}

private:
  void do_start(SimThread& self) override {
    missing_ = shape().send_partitions;
    clearance_ = process().irecv(self, shape().communicator, shape().receiver, clearance_tag(shape()), clearance_bytes);
  }

  void do_ready(SimThread& self, int /*partition*/) override {
    missing_line_.atomic(self, Category::line_transfer);
    self.settle();
    if (--missing_ == 0 && clearance_->complete) {
      send(self);
    }
  }

  /// Once in a round: by the Pready that found nothing missing, or, after all of them, by the thread that waits.
  void send(SimThread& self) {
    sent_ = true;
    message_ = process().isend(self, shape().communicator, shape().receiver, shape().tag, shape().bytes);
  }

  bool do_test(SimThread& self) override {
    if (!sent_ && process().get_status(self, clearance_)) {
      send(self);
    }
    if (!sent_ || !process().get_status(self, message_)) {
      return false;
    }
    do_wait(self);
    return true;
  }

  void do_wait(SimThread& self) override {
    if (!sent_) {
      process().wait(self, std::exchange(clearance_, nullptr));
      send(self);
    }
    const std::array<Request*, 2> both{std::exchange(clearance_, nullptr), std::exchange(message_, nullptr)};
    process().waitall(self, both);
    sent_ = false;
  }

  CacheLine missing_line_; ///< where the counter is
  int missing_ = 0;
  Request* clearance_ = nullptr; ///< of this round: that the receiver has started
  Request* message_ = nullptr;   ///< of this round; nullptr: complete at once, or not sent
  bool sent_ = false;
};

class WholeBufferReceive final : public PartitionedReceive {
public:
  WholeBufferReceive(World& world, const PartitionedShape& shape)
      : PartitionedReceive(world.process(shape.receiver), shape) {}

private:
  void do_start(SimThread& self) override {
    message_ = process().irecv(self, shape().communicator, shape().sender, shape().tag, shape().bytes);
    clearance_ = process().isend(self, shape().communicator, shape().sender, clearance_tag(shape()), clearance_bytes);
  }

  bool do_arrived(SimThread& self, int /*partition*/) override { return process().get_status(self, message_); }

  void do_poll_until_any(SimThread& self) override {
    process().poll_until(self, [this] { return message_->complete; });
  }

  bool do_test(SimThread& self) override {
    if (!process().get_status(self, message_)) {
      return false;
    }
    do_wait(self);
    return true;
  }

  void do_wait(SimThread& self) override {
    const std::array<Request*, 2> both{std::exchange(message_, nullptr), std::exchange(clearance_, nullptr)};
    process().waitall(self, both);
  }

  Request* message_ = nullptr;
  Request* clearance_ = nullptr; ///< nullptr: complete at once
};

} // namespace

std::unique_ptr<PartitionedOperation> make_whole_buffer_partitioned(const PartitionedParts& parts) {
  return std::make_unique<PartitionedPair<WholeBufferSend, WholeBufferReceive>>(
      std::make_unique<WholeBufferSend>(parts.world, parts.shape),
      std::make_unique<WholeBufferReceive>(parts.world, parts.shape));
}

} // namespace contend
