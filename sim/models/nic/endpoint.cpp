#include "models/nic/endpoint.hpp"

#include "models/nic/nic.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace contend {

Endpoint::Endpoint(NicContext& local, NicContext& remote, const CreditParameters& credits)
    : local_(local), remote_(remote), fifo_(local.take_fifo()), credit_parameters_(credits),
      credits_(credits.buffers > 0 ? credits.buffers : local.nic().parameters().flow_control_window),
      tokens_(credits.eager_rdma_buffers), posted_buffers_(credits.buffers) {
  if (credits.eager_rdma_buffers > 0) {
    channel_ = local.buffers_.size();
    local.buffers_.emplace_back();
  }
}

void Endpoint::pair(Endpoint& one, Endpoint& other) {
  one.reverse_ = &other;
  other.reverse_ = &one;
}

int Endpoint::send_queue_depth() const {
  return uses_credits() && !credit_parameters_.written ? credit_parameters_.buffers
                                                       : local_.nic_.parameters_.send_queue_depth;
}

/// Whether the peer has a receive buffer for one more message.
bool Endpoint::has_credit() const {
  const bool limited = uses_credits() || local_.nic_.parameters_.flow_control_window > 0;
  return !limited || credits_ > 0;
}

/// Work requests and receive buffers hold a message of any size.
bool Endpoint::has_room(std::int64_t /*wire_bytes*/) const {
  return outstanding_ < send_queue_depth() && (has_credit() || tokens_ > 0);
}

bool Endpoint::has_room_for(Bulk kind, std::int64_t /*bytes*/) const {
  return outstanding_ < send_queue_depth() && (kind != Bulk::send || has_credit());
}

/// Takes one of the messages that may be sent. Returns whether the peer is to be asked for a grant: like UCX's hard
/// threshold, when a quarter of the window is left; a grant restores all of it.
bool Endpoint::take_credit() {
  if (uses_credits()) {
    --credits_;
    return false;
  }
  const int window = local_.nic_.parameters_.flow_control_window;
  return window > 0 && --credits_ == window / 4;
}

int Endpoint::credits_to_take_along() { return credit_parameters_.written ? 0 : std::exchange(to_return_, 0); }

/// A packet for the caller to fill further and to schedule.
Packet& Endpoint::packet_to(NicContext& destination, Packet::Stage stage) {
  Packet& packet = local_.nic_.take_packet();
  packet.stage_ = stage;
  packet.destination_ = &destination;
  packet.sender_ = this;
  packet.burst_of_ = nullptr;
  packet.eager_rdma_ = false;
  packet.tokens_ = 0;
  return packet;
}

/// Schedules what the poster will find in its completion queue.
void Endpoint::report_after(TimePoint time, int completions, const Envelope* transfer) {
  Nic& nic = local_.nic_;
  Packet& report = packet_to(local_, Packet::Stage::send_completion);
  report.completions_ = completions;
  report.transfer_over_ = transfer != nullptr;
  if (transfer != nullptr) {
    report.envelope_ = *transfer;
  }
  nic.engine_.schedule(report, time);
}

bool Endpoint::post(SimThread& self, const Envelope& envelope, std::int64_t wire_bytes) {
  Nic& nic = local_.nic_;
  const NicParameters& parameters = nic.parameters_;
  if (pays_for_look()) {
    local_.send_state_.store_protected(self, parameters.post_lines, Category::nic_post);
  }
  if (!has_room(wire_bytes)) {
    saw_no_room(nic.engine_.now());
    return false;
  }
  const TimePoint called = self.now();
  const bool eager_rdma = tokens_ > 0;
  tokens_ -= eager_rdma ? 1 : 0; // before time passes: a poll may send credits meanwhile, in such a buffer
  self.spend(parameters.post + parameters.doorbell, Category::nic_post);
  ++outstanding_;
  ++nic.messages_sent_;

  const std::int64_t packets =
      nic.packets_for(wire_bytes - parameters.packet_bytes); // the first one's header is counted
  WorkRequest request{nic.engine_.now() + parameters.wqe_fetch, wire_bytes + (packets - 1) * parameters.packet_bytes,
                      packets, fifo_};
  if (const std::int64_t bytes = wire_bytes - parameters.packet_bytes; bytes > parameters.inline_bytes) {
    request.fetch = parameters.payload_fetch;
    request.bus = nic.bus(bytes);
  }
  const Passage passage = local_.send(request);

  Packet& packet = packet_to(remote_, Packet::Stage::wire);
  packet.occupancy_ = passage.interface_busy;
  packet.envelope_ = envelope;
  packet.envelope_.number = local_.trace_post(self, called, wire_bytes, passage);
  packet.eager_rdma_ = eager_rdma;
  packet.wants_grant_ = !eager_rdma && take_credit();
  packet.credit_message_ = false;
  // The header has one field for both (mca_btl_openib_endpoint_credit_acquire).
  packet.tokens_ = std::exchange(tokens_to_return_, 0);
  packet.credits_ = packet.eager_rdma_ || packet.tokens_ > 0 ? 0 : credits_to_take_along();
  packet.control_seen_ = std::exchange(control_to_return_, 0);
  nic.engine_.schedule(packet, passage.arrival);

  // The last work request that fits asks for a report too, or a short queue would stay full for ever.
  if (++unreported_ >= parameters.send_completion_batch || outstanding_ == send_queue_depth()) {
    report_after(passage.arrival + nic.route_.latency, std::exchange(unreported_, 0),
                 nullptr); // the acknowledgement comes back
  }
  return true;
}

bool Endpoint::post_bulk(SimThread& self, Bulk kind, const Envelope& envelope, std::int64_t bytes) {
  Nic& nic = local_.nic_;
  const NicParameters& parameters = nic.parameters_;
  local_.send_state_.store_protected(self, parameters.post_lines, Category::nic_post);
  if (!has_room_for(kind, bytes)) {
    return false;
  }
  self.spend(parameters.post + parameters.doorbell, Category::nic_post);
  ++outstanding_;
  ++nic.messages_sent_;

  constexpr std::int64_t most_bursts = 256; // of one transfer: the share of each is exact to 0.4 % of its size
  BulkTransfer& bulk = nic.take_bulk();
  bulk.poster_ = this;
  bulk.kind_ = kind;
  bulk.envelope_ = envelope;
  bulk.unsent_ = bytes;
  bulk.packets_left_ = nic.packets_for(bytes);
  bulk.bus_ = nic.bus(bytes);
  bulk.burst_packets_ = (bulk.packets_left_ + most_bursts - 1) / most_bursts;
  bulk.completions_ = std::exchange(unreported_, 0) + 1; // the earlier ones are over as well by then
  bulk.wants_grant_ = kind == Bulk::send && take_credit();
  bulk.credits_ = kind == Bulk::send ? credits_to_take_along() : 0;
  bulk.control_seen_ = kind == Bulk::send ? std::exchange(control_to_return_, 0) : 0;
  if (kind != Bulk::read) {
    bulk.source_ = &nic;
    Duration fetch = parameters.payload_fetch + bulk.bus_;
    if (nic.flows_ != nullptr) {
      fetch += parameters.wqe_fetch;
    }
    if (fetch > Duration{}) {
      nic.engine_.schedule(bulk, nic.engine_.now() + fetch);
    } else {
      bulk.fire(); // the work request is fetched while the wire is busy with others
    }
    return true;
  }
  // The request travels to the peer's interface, which answers without its processor.
  const Duration on_wire = nic.serialization(parameters.packet_bytes);
  const TimePoint departure = nic.depart_besides("read request", nic.engine_.now() + parameters.wqe_fetch,
                                                 std::max(parameters.nic_gap, on_wire), on_wire);
  bulk.source_ = &remote_.nic_;
  // The target reads its memory for that, which takes about as long as reading a work request.
  const Duration fetch = (nic.flows_ != nullptr ? remote_.nic_.parameters_.wqe_fetch : Duration{}) + bulk.bus_;
  nic.engine_.schedule(bulk, departure + on_wire + nic.route_.latency + fetch);
  return true;
}

/// Called on the receiving side: a control message lets the sender go on.
void Endpoint::grant(SimThread& self) {
  Nic& nic = remote_.nic_; // the interface that sends the grant
  const NicParameters& parameters = nic.parameters_;
  self.spend(parameters.post + parameters.doorbell, Category::nic_post);
  Packet& packet = packet_to(local_, Packet::Stage::grant);
  nic.engine_.schedule(packet, nic.engine_.now() + parameters.wqe_fetch + nic.route_.latency);
}

/// The peer's end has handled one of our messages: its buffer is free, and the message has brought credits along.
/// (btl_openib_handle_incoming, mca_btl_openib_endpoint_post_rr, send_credits in Open MPI 4.0.)
void Endpoint::consumed(SimThread& self, const NicContext::Completion& message) {
  credits_ += message.credits;
  tokens_ += message.tokens;
  control_sent_ -= message.control_seen;
  read_buffer(message.eager_rdma, message.kind == NicContext::Completion::Kind::credited);
  if (credits_ > credit_parameters_.buffers || tokens_ > credit_parameters_.eager_rdma_buffers || posted_buffers_ < 0 ||
      control_sent_ < 0 || control_sent_ >= credit_parameters_.reserve) {
    throw InvariantViolation("a connection has " + std::to_string(credits_) + " send credits, " +
                             std::to_string(tokens_) + " buffers to write into, " + std::to_string(posted_buffers_) +
                             " of " + std::to_string(credit_parameters_.buffers) + " receive buffers, and " +
                             std::to_string(control_sent_) + " credit messages under way");
  }
  const bool due = to_return_ >= credit_parameters_.window || tokens_to_return_ > credit_parameters_.eager_rdma_window;
  if (due && (tokens_ > 0 || control_sent_ < credit_parameters_.reserve - 1)) {
    send_credits(self);
  }
}

/// A buffer of this side is free again, and posted when enough are.
void Endpoint::read_buffer(bool eager_rdma, bool credit_message) {
  if (eager_rdma) {
    ++tokens_to_return_;
    return;
  }
  credit_message ? ++control_received_ : --posted_buffers_;
  if (posted_buffers_ <= credit_parameters_.low_watermark) {
    to_return_ += credit_parameters_.buffers - posted_buffers_;
    posted_buffers_ = credit_parameters_.buffers;
  }
  if (control_received_ >= credit_parameters_.reserve / 4) {
    control_to_return_ += std::exchange(control_received_, 0);
  }
}

/// A message of ours has left its slot of the mailbox: when enough have, the peer's number of credits is written.
void Endpoint::free_slot(SimThread& self) {
  if (++to_return_ < credit_parameters_.window) {
    return;
  }
  Nic& nic = local_.nic_;
  const NicParameters& parameters = nic.parameters_;
  const int credits = std::exchange(to_return_, 0); // before time passes: another thread may free a slot meanwhile
  self.spend(parameters.post + parameters.doorbell, Category::nic_post);
  Packet& packet = packet_to(remote_, Packet::Stage::credit_write);
  packet.credits_ = credits;
  nic.engine_.schedule(packet, nic.engine_.now() + parameters.wqe_fetch + nic.route_.latency);
}

/// A message for credits alone; it has a work request and a buffer of its own, one for eager RDMA if the peer has one left.
void Endpoint::send_credits(SimThread& self) {
  Nic& nic = local_.nic_;
  const NicParameters& parameters = nic.parameters_;
  // Before time passes: another thread may take the last buffer meanwhile, or the credits along with a message of its
  // own. The peer could use those before it polls this one, and would have none left to say that it has seen it.
  const bool eager_rdma = tokens_ > 0;
  eager_rdma ? --tokens_ : ++control_sent_;
  const int credits = std::exchange(to_return_, 0);
  const int tokens = std::exchange(tokens_to_return_, 0);
  const int control_seen = std::exchange(control_to_return_, 0);
  self.spend(parameters.post + parameters.doorbell, Category::nic_post);
  const Duration on_wire = nic.serialization(parameters.packet_bytes);
  const Duration occupancy = std::max(parameters.nic_gap, on_wire);
  const TimePoint departure =
      nic.depart_besides("credits", nic.engine_.now() + parameters.wqe_fetch, occupancy, on_wire);
  Packet& packet = packet_to(remote_, Packet::Stage::wire);
  packet.occupancy_ = occupancy;
  packet.envelope_.number = 0;
  packet.wants_grant_ = false;
  packet.credit_message_ = true;
  packet.eager_rdma_ = eager_rdma;
  packet.credits_ = credits;
  packet.tokens_ = tokens;
  packet.control_seen_ = control_seen;
  nic.engine_.schedule(packet, departure + on_wire + nic.route_.latency);
}

} // namespace contend
