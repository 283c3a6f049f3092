#include "models/nic/bulk_transfer.hpp"

#include "models/nic/endpoint.hpp"
#include "models/nic/nic.hpp"
#include "models/nic/packet.hpp"

#include <algorithm>

namespace contend {

/// Puts the next burst on the wire. The payload was asked for just in time for the end of the one before.
void BulkTransfer::fire() {
  NicPort& port = source->port();
  const NicParameters& parameters = source->parameters();
  if (port.is_shared()) {
    const Nic& to = kind == Bulk::read ? poster->nic() : poster->remote().nic();
    port.start_flow(*this, to.port(), std::max<std::int64_t>(1, unsent + packets_left * parameters.packet_bytes),
                    packets_left);
    return;
  }
  const std::int64_t packets = std::min(burst_packets, packets_left);
  const std::int64_t payload = std::min(unsent, packets * parameters.mtu_bytes);
  packets_left -= packets;
  unsent -= payload;
  Engine& engine = source->engine();
  const Duration on_wire = port.serialization(payload + packets * parameters.packet_bytes);
  const Duration occupancy = std::max(packets * parameters.nic_gap, on_wire);
  const TimePoint departure = port.depart_besides("burst", engine.now() + parameters.wqe_fetch, occupancy, on_wire);

  Packet& burst = packet();
  burst.last_burst = packets_left == 0;
  burst.occupancy = occupancy;
  engine.schedule(burst, departure + on_wire + port.latency() + bus);
  if (packets_left > 0) {
    engine.schedule(*this, departure + occupancy - parameters.wqe_fetch);
  }
}

/// One that stands for a part of this transfer.
Packet& BulkTransfer::packet() {
  Packet& burst = poster->packet_to(kind == Bulk::read ? poster->local() : poster->remote(), Packet::Stage::wire);
  burst.burst_of = this;
  burst.credit_message = false;
  return burst;
}

/// The last byte is on the wire; the receiving one has been shared as well.
void BulkTransfer::flow_finished() {
  Packet& end = packet();
  end.last_burst = true;
  end.occupancy = Duration{};
  source->engine().schedule(end, source->engine().now() + source->port().latency() + bus);
}

} // namespace contend
