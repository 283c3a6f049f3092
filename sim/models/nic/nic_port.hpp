// A network interface's way onto the wire and off it: one message at a time in each direction, no faster than the interface
// and the wire allow.
#pragma once

#include "core/engine.hpp"
#include "models/fabric/flow_network.hpp"
#include "models/fabric/parameters.hpp"
#include "models/nic/parameters.hpp"

#include <cstdint>
#include <string_view>

namespace contend {

class NicPort {
public:
  /// `number` of the host, for traces. The parameters must live as long.
  NicPort(Engine& engine, const NicParameters& parameters, const RouteParameters& route, int number);

  /// Packets on the wire for a transport message of `bytes`.
  [[nodiscard]] std::int64_t packets_for(std::int64_t bytes) const;
  /// Time on the wire for `bytes` at the bandwidth of the route.
  [[nodiscard]] Duration serialization(std::int64_t bytes) const;
  /// Time between memory and interface of the first packet of a payload of `bytes`, or of its last one.
  [[nodiscard]] Duration bus(std::int64_t bytes) const;
  [[nodiscard]] Duration latency() const { return route_.latency; }

  /// The wire takes something that is ready at `ready` and keeps it busy for `occupancy`. Returns when it begins.
  TimePoint depart(TimePoint ready, Duration occupancy);
  /// The same for what is not a message of the library, such as a `burst`.
  TimePoint depart_besides(std::string_view what, TimePoint ready, Duration occupancy, Duration on_wire);
  /// What arrives now is taken from the wire: one message at a time, no faster than the wire brings them. Returns when.
  TimePoint take(Duration occupancy);

  /// Large transfers share the wires, one for each direction, as flows.
  void share(FlowNetwork& flows);
  [[nodiscard]] bool is_shared() const { return flows_ != nullptr; }
  /// Lets `bytes` flow to another interface, in so many packets. Requires: both are shared.
  void start_flow(FlowListener& listener, const NicPort& to, std::int64_t bytes, std::int64_t packets);

  [[nodiscard]] const TraceLabel& send_label() const { return send_label_; }
  [[nodiscard]] const TraceLabel& receive_label() const { return receive_label_; }

private:
  Engine& engine_;
  const NicParameters& parameters_;
  const RouteParameters& route_;
  TraceLabel send_label_;
  TraceLabel receive_label_;
  TimePoint next_departure_;
  TimePoint last_reception_;
  FlowNetwork* flows_ = nullptr; ///< none: bursts
  FlowNetwork::Link out_ = 0;
  FlowNetwork::Link in_ = 0;
};

} // namespace contend
