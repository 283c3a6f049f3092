// What one end of a connection may send, and what it owes its peer, so that no sender overruns a receiver.
//
// Three schemes: a window that the receiver's interface restores when it is asked to (UCX's flow control); receive buffers
// whose credits travel in messages of the other direction, or in messages of their own, with buffers for eager RDMA
// besides (btl/openib); slots of a mailbox, whose number the receiver's interface writes into the sender's memory (Cray's
// GNI). Nothing here takes time: who moves credits charges for it.
#pragma once

#include "models/nic/parameters.hpp"

#include <optional>
#include <utility>

namespace contend {

/// What a message says about credits besides what it carries.
struct CreditHeader {
  bool wants_grant = false; ///< the receiver's interface is asked to restore the window
  bool eager_rdma = false;  ///< written into one of the buffers that the receiver looks at
  int credits = 0;
  int tokens = 0;       ///< buffers for eager RDMA that are free again
  int control_seen = 0; ///< credit messages whose buffers are posted again
};

class ConnectionCredits {
public:
  /// `window`: messages that may be sent before a grant, without a scheme of credits; 0: as many as there are.
  ConnectionCredits(const CreditParameters& parameters, int window);

  /// Whether the receiver's buffers are counted.
  [[nodiscard]] bool count_buffers() const { return parameters_.buffers > 0; }
  /// Whether the buffers are slots whose number is written into the sender's memory.
  [[nodiscard]] bool are_written() const { return parameters_.written; }
  /// btl/openib makes the send queue as long as the peer's receive queue; `depth` is the interface's own.
  [[nodiscard]] int send_queue_depth(int depth) const {
    return count_buffers() && !are_written() ? parameters_.buffers : depth;
  }

  // Sending.
  /// Whether the peer has a receive buffer for one more message.
  [[nodiscard]] bool may_send() const { return !is_limited_ || credits_ > 0; }
  /// Whether it has one for eager RDMA.
  [[nodiscard]] bool may_write() const { return tokens_ > 0; }
  /// Takes a buffer for eager RDMA if there is one. Call it before time passes: a poll may send credits meanwhile, in such a buffer.
  bool take_token() {
    const bool has_token = may_write();
    tokens_ -= has_token ? 1 : 0;
    return has_token;
  }
  /// Of the message for which a token was taken, or not; takes a credit if not.
  CreditHeader header(bool has_token) {
    CreditHeader header;
    header.eager_rdma = has_token;
    header.wants_grant = !has_token && take_credit();
    // The header has one field for both (mca_btl_openib_endpoint_credit_acquire).
    header.tokens = std::exchange(tokens_to_return_, 0);
    header.credits = has_token || header.tokens > 0 ? 0 : credits_to_take_along();
    header.control_seen = std::exchange(control_to_return_, 0);
    return header;
  }
  /// Of a large message, which goes into receive buffers.
  CreditHeader bulk_header();
  /// Of a message for credits alone; it has a buffer of its own, one for eager RDMA if the peer has one left.
  CreditHeader control_header();

  // What comes back.
  /// The peer's interface has restored the window.
  void restore_window() { credits_ = window_; }
  /// The peer's interface has written so many credits. Throws InvariantViolation when there are more than slots.
  void add_written(int credits);
  /// This side has handled a message: its buffer is free, and it has brought credits along. Throws InvariantViolation when
  /// these are more than there can be.
  void consume(const CreditHeader& header, bool credit_message);
  /// The peer has to be told what it does not know, and can be.
  [[nodiscard]] bool control_message_due() const;
  /// A message has left its slot. Returns how many credits are to be written, when enough have.
  std::optional<int> free_slot();

  /// Messages that may be sent before the peer gives something back.
  [[nodiscard]] int available() const { return credits_; }
  /// Messages that may be written into the peer's buffers for eager RDMA.
  [[nodiscard]] int tokens() const { return tokens_; }
  /// Receive buffers of this side that hold no message.
  [[nodiscard]] int posted_buffers() const { return posted_buffers_; }
  /// Credit messages under way, or seen by the peer without our knowing.
  [[nodiscard]] int control_sent() const { return control_sent_; }

private:
  /// Takes one of the messages that may be sent. Returns whether the peer is to be asked for a grant: like UCX's hard
  /// threshold, when a quarter of the window is left; a grant restores all of it.
  bool take_credit() {
    if (count_buffers()) {
      --credits_;
      return false;
    }
    return window_ > 0 && --credits_ == window_ / 4;
  }
  int credits_to_take_along() { return are_written() ? 0 : std::exchange(to_return_, 0); }
  void read_buffer(bool eager_rdma, bool credit_message);

  CreditParameters parameters_;
  int window_;
  bool is_limited_;
  int credits_; ///< messages that may be sent before the next grant, or the next credit
  int tokens_;  ///< messages that may be written into the peer's buffers for eager RDMA
  // Of this side's receive buffers:
  int posted_buffers_;        ///< that hold no message
  int to_return_ = 0;         ///< credits that the peer does not know of yet
  int tokens_to_return_ = 0;  ///< buffers for eager RDMA that the peer does not know to be free
  int control_received_ = 0;  ///< credit messages whose buffers have not been posted again
  int control_to_return_ = 0; ///< of these, posted again without the peer's knowing
  int control_sent_ = 0;      ///< credit messages under way, or seen by the peer without our knowing
};

} // namespace contend
