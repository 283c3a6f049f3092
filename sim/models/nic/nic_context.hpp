// A network interface's part that one lock protects: the send queues of its endpoints and one completion queue.
#pragma once

#include "core/cache_line.hpp"
#include "core/engine.hpp"
#include "core/ring_queue.hpp"
#include "models/matching/envelope.hpp"
#include "models/nic/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

class Endpoint;
class Nic;
class RdmaEndpoint;
class RdmaTransfer;

/// What a context sends.
struct WorkRequest {
  TimePoint ready;          ///< the interface has it
  std::int64_t bytes = 0;   ///< on the wire
  std::int64_t packets = 1; ///< on the wire
  std::size_t fifo = 0;     ///< of the context
  Duration fetch{};         ///< until the interface has the first byte of a payload that is not in the work request
  Duration bus{};           ///< of a packet of such a payload, between memory and interface at either end
};

/// How a work request passes the sending interface; see PostedMessage.
struct Passage {
  TimePoint ready; ///< the interface has it
  TimePoint served;
  TimePoint loaded;
  TimePoint departure;
  TimePoint arrival;
  Duration interface_busy;
  Duration context_busy;
  Duration on_wire;
};

/// A communication resource instance's hardware: what one lock protects.
class NicContext final : public TransportContext {
public:
  NicContext(Nic& nic, ActivityListener& listener, std::string_view name, int process);

  /// Looks at the completion queue and handles up to poll_batch entries. Returns how many there were. The caller holds
  /// the lock of the context. A look that finds nothing is charged to poll_idle.
  int poll(SimThread& self, CompletionHandler& handler);
  /// The two parts of poll(): what it costs to look, and handling what is there.
  void look(SimThread& self) override;
  int drain(SimThread& self, CompletionHandler& handler) override;
  int drain_unlocked(SimThread& self, CompletionHandler& handler, Lock& lock) override;

  /// Polls until there is something, for a caller that keeps the lock meanwhile: polls in vain disturb nobody and cost one
  /// event in all. Returns at the end of the poll that finds something, as often repeated poll() would.
  int poll_until_report(SimThread& self, CompletionHandler& handler);

  [[nodiscard]] std::string describe() const override { return "a completion of " + label_.name; }
  [[nodiscard]] bool has_completions() const override { return !completions_.empty() || written_ > 0; }
  [[nodiscard]] Nic& nic() const { return nic_; }

private:
  friend class BulkTransfer;
  friend class Endpoint;
  friend class Packet;
  friend class RdmaEndpoint;
  friend class RdmaTransfer;

  /// What a poll finds.
  struct Completion {
    enum class Kind { sent, transferred, received, granted, credited, rdma };
    Kind kind = Kind::received;
    int tokens = 0;
    Endpoint* endpoint = nullptr; ///< whose send it was; the peer's for a received message
    int count = 0;                ///< sends or one-sided operations that are complete
    bool wants_grant = false;
    bool eager_rdma = false; ///< in a buffer that is looked at, not in the completion queue
    int credits = 0;
    int control_seen = 0;
    Envelope envelope;
    RdmaEndpoint* rdma = nullptr; ///< whose operations they were
  };

  /// A work request takes its turn at the interface and in one of this context's FIFOs. Payloads are fetched side by side:
  /// that delays a message, and what is behind it in its FIFO, but not the interface, whose wire is taken when it turns to the
  /// message. Bulk transfers, credits and grants go round the FIFOs.
  Passage send(const WorkRequest& request);
  /// The FIFO of the next connection.
  std::size_t take_fifo() { return connections_++ % fifos_.size(); }
  MessageNumber trace_post(const SimThread& self, TimePoint called, std::int64_t bytes, const Passage& passage) const;
  void report(const Completion& completion);
  /// Whether this poll looks at the completion queue, besides buffers for eager RDMA.
  [[nodiscard]] bool looks_at_queue();
  /// One of each connection, or up to `most` entries. Each goes to `found` when it has been taken out. Returns how many.
  template <class Found>
  int take_from_buffers(SimThread& self, Found&& found);
  template <class Found>
  int take_from_queue(SimThread& self, int most, Found&& found);
  void handle(SimThread& self, CompletionHandler& handler, const Completion& completion);
  void show_queue() const;

  Nic& nic_;
  ActivityListener& listener_;
  CacheLine send_state_;
  CacheLine receive_state_;
  CacheLine completion_state_;
  /// What has been sent into one keeps its order on the wire, and on the bus at the other end.
  struct Fifo {
    TimePoint next_departure;
    TimePoint last_arrival;
  };
  std::vector<Fifo> fifos_; ///< for injection
  std::size_t connections_ = 0;
  RingQueue<RdmaTransfer*> offloads_; ///< flows only: descriptors that are not done, in order
  TimePoint next_offload_;            ///< flows only: when the next descriptor may begin
  RingQueue<Completion> completions_;
  std::vector<RingQueue<Completion>> buffers_; ///< for eager RDMA, those that hold a message, by connection
  std::size_t written_ = 0;                    ///< of all connections
  int polls_without_queue_ = 0;
  std::vector<std::vector<Completion>> spare_; ///< memory for what is handled without the lock
  SimThread* sleeper_ = nullptr;               ///< in poll_until_report
  TraceLabel label_;
  TraceLabel queue_label_;
};

} // namespace contend
