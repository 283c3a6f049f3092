// The send side of a connection over a network interface: its send queue, and how many messages its peer can take.
#pragma once

#include "core/engine.hpp"
#include "models/matching/envelope.hpp"
#include "models/nic/connection_credits.hpp"
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
  [[nodiscard]] const ConnectionCredits& credits() const { return credits_; }

  // What contexts and what is on the way use.
  [[nodiscard]] NicContext& local() const { return local_; }
  [[nodiscard]] NicContext& remote() const { return remote_; }
  [[nodiscard]] Nic& nic() const { return local_.nic(); }
  /// The other end. Requires: pair().
  [[nodiscard]] Endpoint& peer() const { return *reverse_; }
  /// Which of its context's sets of buffers for eager RDMA is this connection's.
  [[nodiscard]] std::size_t channel() const { return channel_; }
  /// A packet for the caller to fill further and to schedule.
  Packet& packet_to(NicContext& destination, Packet::Stage stage);
  /// Schedules what the poster will find in its completion queue.
  void report_after(TimePoint time, int completions, const Envelope* transfer);
  /// The poster has polled so many completions.
  void retire(int count) { outstanding_ -= count; }
  /// The peer has restored the window.
  void granted() { credits_.restore_window(); }
  /// The peer has written so many credits.
  void credits_written(int credits) { credits_.add_written(credits); }
  /// Called on the receiving side: a control message lets the sender go on.
  void grant(SimThread& self);
  /// Called on the receiving side: a message of this end has been handled, and its buffer is free.
  void consumed(SimThread& self, const CreditHeader& header, bool credit_message) {
    if (credits_.count_buffers()) {
      self.settle();
      reverse_->free_buffer(self, header, credit_message);
    }
  }

private:
  void free_buffer(SimThread& self, const CreditHeader& header, bool credit_message);
  void send_credits(SimThread& self);

  NicContext& local_;
  NicContext& remote_;
  std::size_t fifo_;        ///< of the context
  std::size_t channel_ = 0; ///< of the context
  ConnectionCredits credits_;
  int send_queue_depth_;
  Endpoint* reverse_ = nullptr; ///< the peer's end
  int outstanding_ = 0;         ///< work requests whose completion has not been polled
  int unreported_ = 0;          ///< posted since the last work request that asks for a completion
};

} // namespace contend
