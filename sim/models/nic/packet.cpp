#include "models/nic/packet.hpp"

#include "models/nic/nic.hpp"

#include <algorithm>

namespace contend {

void Packet::fire() {
  using Kind = NicContext::Completion::Kind;
  if (stage_ == Stage::send_completion) {
    destination_->report({.kind = transfer_over_ ? Kind::transferred : Kind::sent,
                          .endpoint = sender_,
                          .count = completions_,
                          .envelope = envelope_});
  } else if (stage_ == Stage::grant) {
    destination_->report({.kind = Kind::granted, .endpoint = sender_, .envelope = {}});
  } else if (stage_ == Stage::credit_write) {
    Endpoint& credited = *sender_->reverse_;
    credited.credits_ += credits_;
    if (credited.credits_ > credited.credit_parameters_.buffers) {
      throw InvariantViolation("a connection has " + std::to_string(credited.credits_) + " credits for a mailbox of " +
                               std::to_string(credited.credit_parameters_.buffers) + " slots");
    }
    destination_->listener_.activity(*destination_); // who rests may have something to send
  } else {
    Nic& receiver = destination_->nic_;
    if (stage_ == Stage::wire) {
      const TimePoint taken = receiver.take(occupancy_);
      show_reception(taken);
      if (taken > receiver.engine_.now()) {
        stage_ = Stage::receive_queue;
        receiver.engine_.schedule(*this, taken);
        return;
      }
    }
    const bool new_message = burst_of_ == nullptr && !credit_message_;
    if (new_message && stage_ != Stage::matched) {
      const HardwareMatcher::Time time = destination_->listener_.arrived(envelope_);
      if (envelope_.matched != nullptr || envelope_.missed) {
        // The latency overlaps with the messages before; the unit works on one at a time, and reports in order.
        receiver.matching_until_ =
            std::max(receiver.engine_.now() + time.latency, receiver.matching_until_) + time.work;
        if (receiver.matching_until_ > receiver.engine_.now()) {
          stage_ = Stage::matched;
          receiver.engine_.schedule(*this, receiver.matching_until_);
          return;
        }
      }
    }
    arrive();
  }
  sender_->local_.nic_.give_back(*this);
}

/// The receiving interface is busy with the packet until `taken`.
void Packet::show_reception(TimePoint taken) const {
  const Nic& receiver = destination_->nic_;
  TraceSink* const trace = receiver.engine_.trace();
  if (trace == nullptr) [[likely]] {
    return;
  }
  const TimePoint begin = taken - occupancy_;
  if (burst_of_ == nullptr && !credit_message_) {
    trace->message_arrived(envelope_.number, receiver.receive_label_, begin, occupancy_);
  } else {
    trace->interface_occupied(receiver.receive_label_, credit_message_ ? "credits" : "burst", begin, begin, occupancy_,
                              Duration{});
  }
}

void Packet::arrive() {
  using Kind = NicContext::Completion::Kind;
  if (burst_of_ == nullptr) {
    if (!credit_message_) {
      ++destination_->nic_.messages_received_;
    }
    destination_->report({.kind = credit_message_ ? Kind::credited : Kind::received,
                          .tokens = tokens_,
                          .endpoint = sender_,
                          .wants_grant = wants_grant_,
                          .eager_rdma = eager_rdma_,
                          .credits = credits_,
                          .control_seen = control_seen_,
                          .envelope = envelope_});
    return;
  }
  if (!last_burst_) {
    return;
  }
  BulkTransfer& bulk = *burst_of_;
  Engine& engine = destination_->nic_.engine_;
  ++destination_->nic_.messages_received_;
  if (bulk.kind_ == Bulk::send) {
    destination_->report({.kind = Kind::received,
                          .endpoint = sender_,
                          .wants_grant = bulk.wants_grant_,
                          .credits = bulk.credits_,
                          .control_seen = bulk.control_seen_,
                          .envelope = bulk.envelope_});
  }
  const Duration way_back = bulk.kind_ == Bulk::read ? Duration{} : destination_->nic_.route_.latency;
  sender_->report_after(engine.now() + way_back, bulk.completions_, &bulk.envelope_);
  sender_->local_.nic_.give_back(bulk);
}

} // namespace contend
