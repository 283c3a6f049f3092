#include "models/nic/endpoint.hpp"

#include "models/nic/bulk_transfer.hpp"
#include "models/nic/nic.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace contend {

Endpoint::Endpoint(NicContext& local, NicContext& remote, const CreditParameters& credits)
    : local_(local), remote_(remote), fifo_(local.take_fifo()),
      credits_(credits, local.nic().parameters().flow_control_window),
      send_queue_depth_(credits_.send_queue_depth(local.nic().parameters().send_queue_depth)) {
  if (credits.eager_rdma_buffers > 0) {
    channel_ = local.add_buffers();
  }
}

void Endpoint::pair(Endpoint& one, Endpoint& other) {
  one.reverse_ = &other;
  other.reverse_ = &one;
}

/// Work requests and receive buffers hold a message of any size.
bool Endpoint::has_room(std::int64_t /*wire_bytes*/) const {
  return outstanding_ < send_queue_depth_ && (credits_.may_send() || credits_.may_write());
}

bool Endpoint::has_room_for(Bulk kind, std::int64_t /*bytes*/) const {
  return outstanding_ < send_queue_depth_ && (kind != Bulk::send || credits_.may_send());
}

Packet& Endpoint::packet_to(NicContext& destination, Packet::Stage stage) {
  Packet& packet = nic().take_packet();
  packet.stage = stage;
  packet.destination = &destination;
  packet.sender = this;
  packet.burst_of = nullptr;
  packet.header = {};
  return packet;
}

void Endpoint::report_after(TimePoint time, int completions, const Envelope* transfer) {
  Packet& report = packet_to(local_, Packet::Stage::send_completion);
  report.completions = completions;
  report.transfer_over = transfer != nullptr;
  if (transfer != nullptr) {
    report.envelope = *transfer;
  }
  nic().engine().schedule(report, time);
}

bool Endpoint::post(SimThread& self, const Envelope& envelope, std::int64_t wire_bytes) {
  Nic& nic = this->nic();
  Engine& engine = nic.engine();
  NicPort& port = nic.port();
  const NicParameters& parameters = nic.parameters();
  if (pays_for_look()) {
    local_.send_state().store_protected(self, parameters.post_lines, Category::nic_post);
  }
  if (!has_room(wire_bytes)) {
    saw_no_room(engine.now());
    return false;
  }
  const TimePoint called = self.now();
  const bool has_token = credits_.take_token();
  self.spend(parameters.post + parameters.doorbell, Category::nic_post);
  ++outstanding_;
  nic.count_sent();

  const std::int64_t packets =
      port.packets_for(wire_bytes - parameters.packet_bytes); // the first one's header is counted
  WorkRequest request{engine.now() + parameters.wqe_fetch, wire_bytes + (packets - 1) * parameters.packet_bytes,
                      packets, fifo_};
  if (const std::int64_t bytes = wire_bytes - parameters.packet_bytes; bytes > parameters.inline_bytes) {
    request.fetch = parameters.payload_fetch;
    request.bus = port.bus(bytes);
  }
  const Passage passage = local_.send(request);

  Packet& packet = packet_to(remote_, Packet::Stage::wire);
  packet.occupancy = passage.interface_busy;
  packet.envelope = envelope;
  packet.envelope.number = local_.trace_post(self, called, wire_bytes, passage);
  packet.credit_message = false;
  packet.header = credits_.header(has_token);
  engine.schedule(packet, passage.arrival);

  // The last work request that fits asks for a report too, or a short queue would stay full for ever.
  if (++unreported_ >= parameters.send_completion_batch || outstanding_ == send_queue_depth_) {
    report_after(passage.arrival + port.latency(), std::exchange(unreported_, 0),
                 nullptr); // the acknowledgement comes back
  }
  return true;
}

bool Endpoint::post_bulk(SimThread& self, Bulk kind, const Envelope& envelope, std::int64_t bytes) {
  Nic& nic = this->nic();
  Engine& engine = nic.engine();
  NicPort& port = nic.port();
  const NicParameters& parameters = nic.parameters();
  local_.send_state().store_protected(self, parameters.post_lines, Category::nic_post);
  if (!has_room_for(kind, bytes)) {
    return false;
  }
  self.spend(parameters.post + parameters.doorbell, Category::nic_post);
  ++outstanding_;
  nic.count_sent();

  constexpr std::int64_t most_bursts = 256; // of one transfer: the share of each is exact to 0.4 % of its size
  BulkTransfer& bulk = nic.take_bulk();
  bulk.poster = this;
  bulk.kind = kind;
  bulk.envelope = envelope;
  bulk.unsent = bytes;
  bulk.packets_left = port.packets_for(bytes);
  bulk.bus = port.bus(bytes);
  bulk.burst_packets = (bulk.packets_left + most_bursts - 1) / most_bursts;
  bulk.completions = std::exchange(unreported_, 0) + 1; // the earlier ones are over as well by then
  bulk.header = kind == Bulk::send ? credits_.bulk_header() : CreditHeader{};
  if (kind != Bulk::read) {
    bulk.source = &nic;
    Duration fetch = parameters.payload_fetch + bulk.bus;
    if (port.is_shared()) {
      fetch += parameters.wqe_fetch;
    }
    if (fetch > Duration{}) {
      engine.schedule(bulk, engine.now() + fetch);
    } else {
      bulk.fire(); // the work request is fetched while the wire is busy with others
    }
    return true;
  }
  // The request travels to the peer's interface, which answers without its processor.
  const Duration on_wire = port.serialization(parameters.packet_bytes);
  const TimePoint departure = port.depart_besides("read request", engine.now() + parameters.wqe_fetch,
                                                  std::max(parameters.nic_gap, on_wire), on_wire);
  bulk.source = &remote_.nic();
  // The target reads its memory for that, which takes about as long as reading a work request.
  const Duration fetch = (port.is_shared() ? remote_.nic().parameters().wqe_fetch : Duration{}) + bulk.bus;
  engine.schedule(bulk, departure + on_wire + port.latency() + fetch);
  return true;
}

void Endpoint::grant(SimThread& self) {
  Nic& nic = remote_.nic(); // the interface that sends the grant
  const NicParameters& parameters = nic.parameters();
  self.spend(parameters.post + parameters.doorbell, Category::nic_post);
  Packet& packet = packet_to(local_, Packet::Stage::grant);
  nic.engine().schedule(packet, nic.engine().now() + parameters.wqe_fetch + nic.port().latency());
}

/// A message of the peer has left the buffer, or the slot, that it was in at this end.
void Endpoint::free_buffer(SimThread& self, const CreditHeader& header, bool credit_message) {
  if (!credits_.are_written()) {
    credits_.consume(header, credit_message);
    if (credits_.control_message_due()) {
      send_credits(self);
    }
    return;
  }
  // What is to be written is taken before time passes: another thread may free a slot meanwhile.
  if (const std::optional<int> credits = credits_.free_slot(); credits) {
    Engine& engine = nic().engine();
    const NicParameters& parameters = nic().parameters();
    self.spend(parameters.post + parameters.doorbell, Category::nic_post);
    Packet& packet = packet_to(remote_, Packet::Stage::credit_write);
    packet.header.credits = *credits;
    engine.schedule(packet, engine.now() + parameters.wqe_fetch + nic().port().latency());
  }
}

/// A message for credits alone; it has a work request and a buffer of its own.
void Endpoint::send_credits(SimThread& self) {
  Engine& engine = nic().engine();
  NicPort& port = nic().port();
  const NicParameters& parameters = nic().parameters();
  // Before time passes: another thread may take the last buffer meanwhile, or the credits along with a message of its
  // own. The peer could use those before it polls this one, and would have none left to say that it has seen it.
  const CreditHeader header = credits_.control_header();
  self.spend(parameters.post + parameters.doorbell, Category::nic_post);
  const Duration on_wire = port.serialization(parameters.packet_bytes);
  const Duration occupancy = std::max(parameters.nic_gap, on_wire);
  const TimePoint departure = port.depart_besides("credits", engine.now() + parameters.wqe_fetch, occupancy, on_wire);
  Packet& packet = packet_to(remote_, Packet::Stage::wire);
  packet.occupancy = occupancy;
  packet.envelope.number = 0;
  packet.credit_message = true;
  packet.header = header;
  engine.schedule(packet, departure + on_wire + port.latency());
}

} // namespace contend
