#include "models/nic/nic.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace contend {

NicContext& Nic::create_context(ActivityListener& listener, std::string_view name, int process) {
  contexts_.push_back(std::make_unique<NicContext>(*this, listener, name, process));
  return *contexts_.back();
}

std::unique_ptr<Connection> Nic::connect(TransportContext& local, TransportContext& remote) {
  return std::make_unique<Endpoint>(dynamic_cast<NicContext&>(local), dynamic_cast<NicContext&>(remote), credits_);
}

Packet& Nic::take_packet() {
  if (free_packets_.empty()) {
    packets_.push_back(std::make_unique<Packet>(engine_));
    free_packets_.push_back(packets_.back().get());
  }
  Packet& packet = *free_packets_.back();
  free_packets_.pop_back();
  return packet;
}

BulkTransfer& Nic::take_bulk() {
  if (free_bulks_.empty()) {
    bulks_.push_back(std::make_unique<BulkTransfer>(engine_));
    free_bulks_.push_back(bulks_.back().get());
  }
  BulkTransfer& bulk = *free_bulks_.back();
  free_bulks_.pop_back();
  return bulk;
}

void Nic::share_wires(FlowNetwork& flows) {
  flows_ = &flows;
  out_ = flows.add_link(route_.bytes_per_second);
  in_ = flows.add_link(route_.bytes_per_second);
}

void Nic::start_flow(FlowListener& listener, const Nic& to, std::int64_t bytes, std::int64_t packets) {
  const std::array<FlowNetwork::Link, 2> route{out_, to.in_};
  const Duration least = packets * parameters_.nic_gap;
  const double limit =
      least > Duration{} ? static_cast<double>(bytes) / least.in_seconds() : std::numeric_limits<double>::infinity();
  flows_->start(listener, route, bytes, limit);
}

std::int64_t Nic::packets_for(std::int64_t bytes) const {
  return std::max<std::int64_t>(1, (bytes + parameters_.mtu_bytes - 1) / parameters_.mtu_bytes);
}

Duration Nic::serialization(std::int64_t bytes) const {
  return Duration::seconds(static_cast<double>(bytes) / route_.bytes_per_second);
}

Duration Nic::bus(std::int64_t bytes) const {
  const double bandwidth = parameters_.bus_bytes_per_second;
  return bandwidth > 0 ? Duration::seconds(static_cast<double>(std::min(bytes, parameters_.mtu_bytes)) / bandwidth)
                       : Duration{};
}

TimePoint Nic::depart(TimePoint ready, Duration occupancy) {
  const TimePoint departure = std::max(ready, next_departure_);
  next_departure_ = departure + occupancy;
  return departure;
}

TimePoint Nic::depart_besides(std::string_view what, TimePoint ready, Duration occupancy, Duration on_wire) {
  const TimePoint departure = depart(ready, occupancy);
  if (TraceSink* const trace = engine_.trace(); trace != nullptr) [[unlikely]] {
    trace->interface_occupied(send_label_, what, ready, departure, occupancy, on_wire);
  }
  return departure;
}

TimePoint Nic::take(Duration occupancy) {
  last_reception_ = std::max(engine_.now(), last_reception_ + occupancy);
  return last_reception_;
}

} // namespace contend
