// A network interface's part that one lock protects: the send queues of its endpoints and one completion queue.
#pragma once

#include "core/cache_line.hpp"
#include "core/engine.hpp"
#include "core/ring_queue.hpp"
#include "models/matching/envelope.hpp"
#include "models/nic/connection_credits.hpp"
#include "models/nic/offload_queue.hpp"
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

  // What endpoints and what is on the way use.
  /// What a poll finds.
  struct Completion {
    enum class Kind { sent, transferred, received, granted, credited, rdma };
    Kind kind = Kind::received;
    Endpoint* endpoint = nullptr; ///< whose send it was; the peer's for a received message
    int count = 0;                ///< sends or one-sided operations that are complete
    CreditHeader header;          ///< of a received message
    Envelope envelope;
    RdmaEndpoint* rdma = nullptr; ///< whose operations they were
  };
  void report(const Completion& completion);
  /// A message has arrived, and no poll has seen it.
  HardwareMatcher::Time arrived(Envelope& envelope) { return listener_.arrived(envelope); }
  /// Something has changed that a poll does not find.
  void tell() { listener_.activity(*this); }
  /// A work request takes its turn at the interface and in one of this context's FIFOs. Payloads are fetched side by side:
  /// that delays a message, and what is behind it in its FIFO, but not the interface, whose wire is taken when it turns to the
  /// message. Bulk transfers, credits and grants go round the FIFOs.
  Passage send(const WorkRequest& request);
  /// The FIFO of the next connection.
  std::size_t take_fifo() { return connections_++ % fifos_.size(); }
  /// Nothing leaves a FIFO before `time`.
  void hold_fifo(std::size_t fifo, TimePoint time);
  /// A set of buffers for eager RDMA, for one more connection. Returns its number.
  std::size_t add_buffers();
  /// Descriptors of one-sided operations that the interface works on one after the other.
  [[nodiscard]] OffloadQueue& offloads() { return offloads_; }
  /// The line that posting writes.
  [[nodiscard]] CacheLine& send_state() { return send_state_; }
  [[nodiscard]] const std::string& name() const { return label_.name; }
  MessageNumber trace_post(const SimThread& self, TimePoint called, std::int64_t bytes, const Passage& passage) const;

private:
  /// Whether this poll looks at the completion queue, besides buffers for eager RDMA.
  [[nodiscard]] bool looks_at_queue();
  /// One of each connection, or up to `most` entries. Each goes to `found` when it has been taken out. Returns how many.
  template <class Found>
  int take_from_buffers(SimThread& self, Found&& found);
  template <class Found>
  int take_from_queue(SimThread& self, int most, Found&& found);
  static void handle(SimThread& self, CompletionHandler& handler, const Completion& completion);
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
  OffloadQueue offloads_;
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
