// What is on its way between two network interfaces.
#pragma once

#include "core/engine.hpp"
#include "models/matching/envelope.hpp"

namespace contend {

class BulkTransfer;
class Endpoint;
class NicContext;

/// A message or a burst on its way, or a batch of send completions on its way back.
class Packet final : public Event {
public:
  explicit Packet(Engine& engine) : Event(engine) {}
  void fire() override;

private:
  friend class BulkTransfer;
  friend class Nic;
  friend class Endpoint;
  enum class Stage { wire, receive_queue, matched, send_completion, grant, credit_write };

  void show_reception(TimePoint taken) const;
  void arrive();

  Stage stage_ = Stage::wire;
  NicContext* destination_ = nullptr;
  Endpoint* sender_ = nullptr;
  BulkTransfer* burst_of_ = nullptr; ///< the transfer that this is a burst of
  bool last_burst_ = false;
  Duration occupancy_{}; ///< of the wire
  int completions_ = 0;
  bool transfer_over_ = false; ///< the send completion of a bulk transfer
  bool wants_grant_ = false;
  bool credit_message_ = false;
  bool eager_rdma_ = false; ///< written into one of the buffers that the receiver looks at
  int credits_ = 0;
  int tokens_ = 0; ///< buffers for eager RDMA that are free again
  int control_seen_ = 0;
  Envelope envelope_;
};

} // namespace contend
