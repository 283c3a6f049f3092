// A network interface with user-level contexts.
#pragma once

#include "core/engine.hpp"
#include "core/host.hpp"
#include "models/fabric/flow_network.hpp"
#include "models/fabric/parameters.hpp"
#include "models/nic/bulk_transfer.hpp"
#include "models/nic/endpoint.hpp"
#include "models/nic/nic_context.hpp"
#include "models/nic/nic_port.hpp"
#include "models/nic/packet.hpp"
#include "models/nic/parameters.hpp"
#include "models/nic/transport.hpp"

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// One interface of a host.
class Nic final : public Transport {
public:
  Nic(Engine& engine, const Host& host, const NicParameters& parameters, RouteParameters route, int number = 0)
      : engine_(engine), host_(host), parameters_(parameters), route_(std::move(route)),
        port_(engine, parameters_, route_, number) {}

  /// Large transfers of this interface share its wires, one for each direction, as flows. Call it before the first one;
  /// either all interfaces that are connected do so, or none. Small messages go on using their own queues: they take
  /// nothing from a flow.
  void share_wires(FlowNetwork& flows) { port_.share(flows); }

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

  // What its contexts, their endpoints and what is on the way use.
  [[nodiscard]] NicPort& port() { return port_; }
  [[nodiscard]] const NicPort& port() const { return port_; }
  Packet& take_packet();
  void give_back(Packet& packet) { free_packets_.push_back(&packet); }
  BulkTransfer& take_bulk();
  void give_back(BulkTransfer& bulk) { free_bulks_.push_back(&bulk); }
  void count_sent() { ++messages_sent_; }
  void count_received() { ++messages_received_; }
  /// The tag-matching unit gets a message that takes it so long. Returns when it has done all that has arrived: its latency
  /// overlaps with the messages before, it works on one at a time, and reports in order.
  TimePoint match(const HardwareMatcher::Time& time);
  /// An atomic on this host's memory that may begin at `ready` does so when the ones before are `gap` ago. Returns when.
  TimePoint begin_atomic(TimePoint ready, Duration gap);

private:
  Engine& engine_;
  const Host& host_;
  NicParameters parameters_;
  RouteParameters route_;
  NicPort port_;
  CreditParameters credits_;
  TimePoint matching_until_; ///< when the tag-matching unit has done all that has arrived
  TimePoint next_atomic_;
  std::uint64_t messages_sent_ = 0;
  std::uint64_t messages_received_ = 0;
  std::vector<std::unique_ptr<NicContext>> contexts_;
  std::vector<std::unique_ptr<Packet>> packets_;
  std::vector<Packet*> free_packets_;
  std::vector<std::unique_ptr<BulkTransfer>> bulks_;
  std::vector<BulkTransfer*> free_bulks_;
};

} // namespace contend
