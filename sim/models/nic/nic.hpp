// A network interface with user-level contexts.
#pragma once

#include "core/engine.hpp"
#include "core/host.hpp"
#include "models/fabric/flow_network.hpp"
#include "models/fabric/parameters.hpp"
#include "models/nic/bulk_transfer.hpp"
#include "models/nic/endpoint.hpp"
#include "models/nic/nic_context.hpp"
#include "models/nic/packet.hpp"
#include "models/nic/parameters.hpp"
#include "models/nic/transport.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

class RdmaEndpoint;
class RdmaTransfer;

/// One interface of a host.
class Nic final : public Transport {
public:
  Nic(Engine& engine, const Host& host, const NicParameters& parameters, RouteParameters route, int number = 0)
      : engine_(engine), host_(host), parameters_(parameters), route_(std::move(route)),
        send_label_("host " + std::to_string(number) + "/send", number),
        receive_label_("host " + std::to_string(number) + "/receive", number) {}

  /// Large transfers of this interface share its wires, one for each direction, as flows. Call it before the first one;
  /// either all interfaces that are connected do so, or none. Small messages go on using their own queues: they take
  /// nothing from a flow.
  void share_wires(FlowNetwork& flows);

  /// `process` is the number of the process that uses it, for traces.
  NicContext& create_context(ActivityListener& listener, std::string_view name, int process = -1) override;
  std::unique_ptr<Connection> connect(TransportContext& local, TransportContext& remote) override;
  [[nodiscard]] int max_contexts() const override { return parameters_.max_contexts; }
  /// What new connections keep to so that senders do not overrun receivers; none: the interface's own flow control.
  void set_credits(const CreditParameters& credits) { credits_ = credits; }

  [[nodiscard]] Engine& engine() const { return engine_; }
  [[nodiscard]] const Host& host() const { return host_; }
  [[nodiscard]] const NicParameters& parameters() const { return parameters_; }
  [[nodiscard]] const RouteParameters& route() const { return route_; }
  [[nodiscard]] std::uint64_t messages_sent() const { return messages_sent_; }
  [[nodiscard]] std::uint64_t messages_received() const { return messages_received_; }

private:
  friend class BulkTransfer;
  friend class Endpoint;
  friend class NicContext;
  friend class Packet;
  friend class RdmaEndpoint;
  friend class RdmaTransfer;

  Packet& take_packet();
  void give_back(Packet& packet) { free_packets_.push_back(&packet); }
  BulkTransfer& take_bulk();
  void give_back(BulkTransfer& bulk) { free_bulks_.push_back(&bulk); }
  /// Packets on the wire for a transport message of `bytes`.
  [[nodiscard]] std::int64_t packets_for(std::int64_t bytes) const;
  /// Time on the wire for `bytes` at the bandwidth of the route.
  [[nodiscard]] Duration serialization(std::int64_t bytes) const;
  /// Time between memory and interface of the first packet of a payload of `bytes`, or of its last one.
  [[nodiscard]] Duration bus(std::int64_t bytes) const;
  /// The wire takes something that is ready at `ready` and keeps it busy for `occupancy`. Returns when it begins.
  TimePoint depart(TimePoint ready, Duration occupancy);
  /// The same for what is not a message of the library, such as a `burst`.
  TimePoint depart_besides(std::string_view what, TimePoint ready, Duration occupancy, Duration on_wire);
  /// What arrives now is taken from the wire: one message at a time, no faster than the wire brings them. Returns when.
  TimePoint take(Duration occupancy);
  /// Lets `bytes` flow to the other interface, in so many packets.
  void start_flow(FlowListener& listener, const Nic& to, std::int64_t bytes, std::int64_t packets);

  Engine& engine_;
  const Host& host_;
  NicParameters parameters_;
  RouteParameters route_;
  CreditParameters credits_;
  TraceLabel send_label_;
  TraceLabel receive_label_;
  TimePoint next_departure_;
  TimePoint last_reception_;
  TimePoint matching_until_;     ///< when the tag-matching unit has done all that has arrived
  TimePoint next_atomic_;        ///< one-sided operations: the next atomic on this host's memory
  FlowNetwork* flows_ = nullptr; ///< none: bursts
  FlowNetwork::Link out_ = 0;
  FlowNetwork::Link in_ = 0;
  std::uint64_t messages_sent_ = 0;
  std::uint64_t messages_received_ = 0;
  std::vector<std::unique_ptr<NicContext>> contexts_;
  std::vector<std::unique_ptr<Packet>> packets_;
  std::vector<Packet*> free_packets_;
  std::vector<std::unique_ptr<BulkTransfer>> bulks_;
  std::vector<BulkTransfer*> free_bulks_;
};

} // namespace contend
