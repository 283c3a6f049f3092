// A large transfer: what a network interface does by itself after one work request.
#pragma once

#include "core/engine.hpp"
#include "models/fabric/flow_network.hpp"
#include "models/matching/envelope.hpp"
#include "models/nic/transport.hpp"

#include <cstdint>

namespace contend {

class Endpoint;
class Nic;
class Packet;

/// A large transfer that the interfaces carry out by themselves. The sending interface gives its wire to its transfers
/// and its small messages in turns, a burst of packets each, so that all get equal shares. Where wires are shared by flows
/// (Nic::share_wires) a transfer is one of these.
class BulkTransfer final : public Event, private FlowListener {
public:
  explicit BulkTransfer(Engine& engine) : Event(engine) {}
  void fire() override;

private:
  void flow_finished() override;
  Packet& packet();

  friend class Endpoint;
  friend class Packet;

  Nic* source_ = nullptr; ///< whose wire carries the payload
  Endpoint* poster_ = nullptr;
  Bulk kind_ = Bulk::write;
  bool wants_grant_ = false;
  int credits_ = 0;
  int control_seen_ = 0;
  std::int64_t burst_packets_ = 1;
  std::int64_t unsent_ = 0; ///< payload
  std::int64_t packets_left_ = 0;
  Duration bus_{};      ///< of a packet, between memory and interface at either end
  int completions_ = 0; ///< of the poster's send queue
  Envelope envelope_;
};

} // namespace contend
