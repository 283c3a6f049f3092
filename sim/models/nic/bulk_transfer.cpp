#include "models/nic/bulk_transfer.hpp"

#include "models/nic/nic.hpp"

#include <algorithm>

namespace contend {

/// Puts the next burst on the wire. The payload was asked for just in time for the end of the one before.
void BulkTransfer::fire() {
  Nic& nic = *source_;
  const NicParameters& parameters = nic.parameters_;
  if (nic.flows_ != nullptr) {
    const Nic& to = kind_ == Bulk::read ? poster_->local_.nic_ : poster_->remote_.nic_;
    nic.start_flow(*this, to, std::max<std::int64_t>(1, unsent_ + packets_left_ * parameters.packet_bytes),
                   packets_left_);
    return;
  }
  const std::int64_t packets = std::min(burst_packets_, packets_left_);
  const std::int64_t payload = std::min(unsent_, packets * parameters.mtu_bytes);
  packets_left_ -= packets;
  unsent_ -= payload;
  const Duration on_wire = nic.serialization(payload + packets * parameters.packet_bytes);
  const Duration occupancy = std::max(packets * parameters.nic_gap, on_wire);
  const TimePoint departure = nic.depart_besides("burst", nic.engine_.now() + parameters.wqe_fetch, occupancy, on_wire);

  Packet& burst = packet();
  burst.last_burst_ = packets_left_ == 0;
  burst.occupancy_ = occupancy;
  nic.engine_.schedule(burst, departure + on_wire + nic.route_.latency + bus_);
  if (packets_left_ > 0) {
    nic.engine_.schedule(*this, departure + occupancy - parameters.wqe_fetch);
  }
}

/// One that stands for a part of this transfer.
Packet& BulkTransfer::packet() {
  Packet& burst = poster_->packet_to(kind_ == Bulk::read ? poster_->local_ : poster_->remote_, Packet::Stage::wire);
  burst.burst_of_ = this;
  burst.credit_message_ = false;
  return burst;
}

/// The last byte is on the wire; the receiving one has been shared as well.
void BulkTransfer::flow_finished() {
  Packet& end = packet();
  end.last_burst_ = true;
  end.occupancy_ = Duration{};
  source_->engine_.schedule(end, source_->engine_.now() + source_->route_.latency + bus_);
}

} // namespace contend
