#include "models/nic/nic_port.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace contend {

NicPort::NicPort(Engine& engine, const NicParameters& parameters, const RouteParameters& route, int number)
    : engine_(engine), parameters_(parameters), route_(route),
      send_label_("host " + std::to_string(number) + "/send", number),
      receive_label_("host " + std::to_string(number) + "/receive", number) {}

std::int64_t NicPort::packets_for(std::int64_t bytes) const {
  return std::max<std::int64_t>(1, (bytes + parameters_.mtu_bytes - 1) / parameters_.mtu_bytes);
}

Duration NicPort::serialization(std::int64_t bytes) const {
  return Duration::seconds(static_cast<double>(bytes) / route_.bytes_per_second);
}

Duration NicPort::bus(std::int64_t bytes) const {
  const double bandwidth = parameters_.bus_bytes_per_second;
  return bandwidth > 0 ? Duration::seconds(static_cast<double>(std::min(bytes, parameters_.mtu_bytes)) / bandwidth)
                       : Duration{};
}

TimePoint NicPort::depart(TimePoint ready, Duration occupancy) {
  const TimePoint departure = std::max(ready, next_departure_);
  next_departure_ = departure + occupancy;
  return departure;
}

TimePoint NicPort::depart_besides(std::string_view what, TimePoint ready, Duration occupancy, Duration on_wire) {
  const TimePoint departure = depart(ready, occupancy);
  if (TraceSink* const trace = engine_.trace(); trace != nullptr) [[unlikely]] {
    trace->interface_occupied(send_label_, what, ready, departure, occupancy, on_wire);
  }
  return departure;
}

TimePoint NicPort::take(Duration occupancy) {
  last_reception_ = std::max(engine_.now(), last_reception_ + occupancy);
  return last_reception_;
}

void NicPort::share(FlowNetwork& flows) {
  flows_ = &flows;
  out_ = flows.add_link(route_.bytes_per_second);
  in_ = flows.add_link(route_.bytes_per_second);
}

void NicPort::start_flow(FlowListener& listener, const NicPort& to, std::int64_t bytes, std::int64_t packets) {
  const std::array<FlowNetwork::Link, 2> route{out_, to.in_};
  const Duration least = packets * parameters_.nic_gap;
  const double limit =
      least > Duration{} ? static_cast<double>(bytes) / least.in_seconds() : std::numeric_limits<double>::infinity();
  flows_->start(listener, route, bytes, limit);
}

} // namespace contend
