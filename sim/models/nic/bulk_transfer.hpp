// A large transfer: what a network interface does by itself after one work request.
#pragma once

#include "core/engine.hpp"
#include "models/fabric/flow_network.hpp"
#include "models/matching/envelope.hpp"
#include "models/nic/connection_credits.hpp"
#include "models/nic/transport.hpp"

#include <cstdint>

namespace contend {

class Endpoint;
class Nic;
class Packet;

/// A large transfer that the interfaces carry out by themselves. The sending interface gives its wire to its transfers
/// and its small messages in turns, a burst of packets each, so that all get equal shares. Where wires are shared by flows
/// (Nic::share_wires) a transfer is one of these. Endpoints fill it in (Endpoint::post_bulk).
class BulkTransfer final : public Event, private FlowListener {
public:
  explicit BulkTransfer(Engine& engine) : Event(engine) {}
  void fire() override;

  Nic* source = nullptr; ///< whose wire carries the payload
  Endpoint* poster = nullptr;
  Bulk kind = Bulk::write;
  CreditHeader header; ///< of Bulk::send
  std::int64_t burst_packets = 1;
  std::int64_t unsent = 0; ///< payload
  std::int64_t packets_left = 0;
  Duration bus{};      ///< of a packet, between memory and interface at either end
  int completions = 0; ///< of the poster's send queue
  Envelope envelope;

private:
  void flow_finished() override;
  Packet& packet();
};

} // namespace contend
