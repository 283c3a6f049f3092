// What is on its way between two network interfaces.
#pragma once

#include "core/engine.hpp"
#include "models/matching/envelope.hpp"
#include "models/nic/connection_credits.hpp"

namespace contend {

class BulkTransfer;
class Endpoint;
class NicContext;

/// A message or a burst on its way, or a batch of send completions on its way back. Endpoints fill it in (Endpoint::packet_to).
class Packet final : public Event {
public:
  enum class Stage { wire, receive_queue, matched, send_completion, grant, credit_write };

  explicit Packet(Engine& engine) : Event(engine) {}
  void fire() override;

  Stage stage = Stage::wire;
  NicContext* destination = nullptr;
  Endpoint* sender = nullptr;
  BulkTransfer* burst_of = nullptr; ///< the transfer that this is a burst of
  bool last_burst = false;
  Duration occupancy{}; ///< of the wire
  int completions = 0;
  bool transfer_over = false; ///< the send completion of a bulk transfer
  bool credit_message = false;
  CreditHeader header;
  Envelope envelope;

private:
  [[nodiscard]] bool go_on_later();
  void show_reception(TimePoint taken) const;
  void arrive();
  void end_transfer();
};

} // namespace contend
