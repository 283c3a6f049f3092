// The send side of a connection over a network interface: its send queue, and how many messages its peer can take.
#pragma once

#include "core/engine.hpp"
#include "models/matching/envelope.hpp"
#include "models/nic/nic_context.hpp"
#include "models/nic/packet.hpp"
#include "models/nic/parameters.hpp"
#include "models/nic/transport.hpp"

#include <cstddef>
#include <cstdint>

namespace contend {

/// A queue pair's send side: a connection from one context to a context of another process.
class Endpoint final : public Connection {
public:
  Endpoint(NicContext& local, NicContext& remote, const CreditParameters& credits = {});

  /// Makes two endpoints the two ends of one connection: credits of one direction travel in the other.
  static void pair(Endpoint& one, Endpoint& other);

  /// Builds a work request and rings the doorbell. Returns false, having spent only a look, when the send queue is full
  /// or the peer has not granted more messages. The caller holds the lock of the context.
  bool post(SimThread& self, const Envelope& envelope, std::int64_t wire_bytes) override;
  /// Posts one work request for `bytes` of payload. transferred(envelope) is called here when all of it is there and the
  /// acknowledgement is back; the peer of a Bulk::send gets receive(envelope). Returns false like post().
  bool post_bulk(SimThread& self, Bulk kind, const Envelope& envelope, std::int64_t bytes) override;
  /// Whether post() would succeed.
  [[nodiscard]] bool has_room(std::int64_t wire_bytes) const override;
  /// Whether post_bulk() would: only what the peer has to receive needs its permission, and a buffer of its receive queue.
  [[nodiscard]] bool has_room_for(Bulk kind, std::int64_t bytes) const override;

  [[nodiscard]] int outstanding() const { return outstanding_; }
  /// Messages that may be sent before the peer gives something back.
  [[nodiscard]] int credits() const { return credits_; }
  /// Messages that may be written into the peer's buffers for eager RDMA.
  [[nodiscard]] int tokens() const { return tokens_; }
  /// Receive buffers of this side that hold no message.
  [[nodiscard]] int posted_buffers() const { return posted_buffers_; }
  /// Credit messages under way, or seen by the peer without our knowing.
  [[nodiscard]] int control_sent() const { return control_sent_; }

private:
  friend class BulkTransfer;
  friend class NicContext;
  friend class Packet;

  void grant(SimThread& self);
  void consumed(SimThread& self, const NicContext::Completion& message);
  void read_buffer(bool eager_rdma, bool credit_message);
  void send_credits(SimThread& self);
  void free_slot(SimThread& self);
  /// Credits that a message takes along.
  int credits_to_take_along();
  [[nodiscard]] bool uses_credits() const { return credit_parameters_.buffers > 0; }
  /// btl/openib makes the send queue as long as the peer's receive queue.
  [[nodiscard]] int send_queue_depth() const;
  [[nodiscard]] bool has_credit() const;
  bool take_credit();
  Packet& packet_to(NicContext& destination, Packet::Stage stage);
  void report_after(TimePoint time, int completions, const Envelope* transfer);

  NicContext& local_;
  NicContext& remote_;
  std::size_t fifo_;        ///< of the context
  std::size_t channel_ = 0; ///< of the context: which of its sets of buffers for eager RDMA
  CreditParameters credit_parameters_;
  Endpoint* reverse_ = nullptr; ///< the peer's end
  int credits_;                 ///< messages that may be sent before the next grant, or the next credit
  int tokens_;                  ///< messages that may be written into the peer's buffers for eager RDMA
  int outstanding_ = 0;         ///< work requests whose completion has not been polled
  int unreported_ = 0;          ///< posted since the last work request that asks for a completion
  // Of this side's receive buffers:
  int posted_buffers_;
  int to_return_ = 0;         ///< credits that the peer does not know of yet
  int tokens_to_return_ = 0;  ///< buffers for eager RDMA that the peer does not know to be free
  int control_received_ = 0;  ///< credit messages whose buffers have not been posted again
  int control_to_return_ = 0; ///< of these, posted again without the peer's knowing
  int control_sent_ = 0;
};

} // namespace contend
