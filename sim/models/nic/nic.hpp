// A network interface with user-level contexts: each context has send queues (one per endpoint) and one completion queue.
#pragma once

#include "core/cache_line.hpp"
#include "core/engine.hpp"
#include "core/host.hpp"
#include "models/fabric/flow_network.hpp"
#include "models/fabric/parameters.hpp"
#include "models/matching/envelope.hpp"
#include "models/matching/matcher.hpp"
#include "models/nic/parameters.hpp"
#include "models/nic/transport.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

class Endpoint;
class Nic;
class NicContext;
class Packet;
class RdmaEndpoint;
class RdmaTransfer;

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
  int completions_ = 0; ///< of the poster's send queue
  Envelope envelope_;
};

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
  int credits_ = 0;
  int control_seen_ = 0;
  Envelope envelope_;
};

/// A queue pair's send side: a connection from one context to a context of another process.
class Endpoint final : public Connection {
public:
  Endpoint(NicContext& local, NicContext& remote, const CreditParameters& credits = {});

  /// Makes two endpoints the two ends of one connection: credits of one direction travel in the other.
  static void pair(Endpoint& one, Endpoint& other);

  /// Builds a work request and rings the doorbell. Returns false, having spent only a look, when the send queue is full
  /// or the peer has not granted more messages. The caller holds the lock of the context.
  bool post(SimThread& self, const Envelope& envelope, std::int64_t wire_bytes) override;
  /// Posts one work request for `bytes` of payload. transferred(envelope) is called here when all of it is there and the
  /// acknowledgement is back; the peer of a Bulk::send gets receive(envelope). Returns false like post().
  bool post_bulk(SimThread& self, Bulk kind, const Envelope& envelope, std::int64_t bytes) override;
  /// Whether post() would succeed.
  [[nodiscard]] bool has_room() const override;

  [[nodiscard]] int outstanding() const { return outstanding_; }
  /// Messages that may be sent before the peer gives something back.
  [[nodiscard]] int credits() const { return credits_; }
  /// Receive buffers of this side that hold no message.
  [[nodiscard]] int posted_buffers() const { return posted_buffers_; }
  /// Credit messages under way, or seen by the peer without our knowing.
  [[nodiscard]] int control_sent() const { return control_sent_; }

private:
  friend class BulkTransfer;
  friend class NicContext;
  friend class Packet;
  void grant(SimThread& self);
  void consumed(SimThread& self, bool credit_message, int credits, int control_seen);
  void send_credits(SimThread& self);
  void free_slot(SimThread& self);
  /// Credits that a message takes along.
  int credits_to_take_along();
  [[nodiscard]] bool uses_credits() const { return credit_parameters_.buffers > 0; }
  /// btl/openib makes the send queue as long as the peer's receive queue.
  [[nodiscard]] int send_queue_depth() const;
  bool take_credit();
  void report_after(TimePoint time, int completions, const Envelope* transfer);

  NicContext& local_;
  NicContext& remote_;
  std::size_t fifo_; ///< of the context
  CreditParameters credit_parameters_;
  Endpoint* reverse_ = nullptr; ///< the peer's end
  int credits_;                 ///< messages that may be sent before the next grant, or the next credit
  int outstanding_ = 0;         ///< work requests whose completion has not been polled
  int unreported_ = 0;          ///< posted since the last work request that asks for a completion
  // Of this side's receive buffers:
  int posted_buffers_;
  int to_return_ = 0;         ///< credits that the peer does not know of yet
  int control_received_ = 0;  ///< credit messages whose buffers have not been posted again
  int control_to_return_ = 0; ///< of these, posted again without the peer's knowing
  int control_sent_ = 0;
};

/// How a work request passes the sending interface; see PostedMessage.
struct Passage {
  TimePoint ready; ///< the interface has it
  TimePoint served;
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

  /// Polls until there is something, for a caller that keeps the lock meanwhile: polls in vain disturb nobody and cost one
  /// event in all. Returns at the end of the poll that finds something, as often repeated poll() would.
  int poll_until_report(SimThread& self, CompletionHandler& handler);

  [[nodiscard]] std::string describe() const override { return "a completion of " + label_.name; }
  [[nodiscard]] bool has_completions() const override { return !completions_.empty(); }
  [[nodiscard]] Nic& nic() const { return nic_; }

private:
  friend class BulkTransfer;
  friend class Endpoint;
  friend class Packet;
  friend class RdmaEndpoint;
  friend class RdmaTransfer;

  struct Completion {
    enum class Kind { sent, transferred, received, granted, credited, rdma };
    Kind kind = Kind::received;
    Endpoint* endpoint = nullptr; ///< whose send it was; the peer's for a received message
    int count = 0;                ///< sends or one-sided operations that are complete
    bool wants_grant = false;
    int credits = 0;
    int control_seen = 0;
    Envelope envelope;
    RdmaEndpoint* rdma = nullptr; ///< whose operations they were
  };

  /// A work request that is `ready` takes its turn at the interface and in one of this context's FIFOs.
  Passage send(TimePoint ready, std::int64_t bytes, std::int64_t packets, std::size_t fifo);
  /// The FIFO of the next connection.
  std::size_t take_fifo() { return connections_++ % next_departures_.size(); }
  MessageNumber trace_post(const SimThread& self, TimePoint called, std::int64_t bytes, const Passage& passage) const;
  void report(const Completion& completion);
  void show_queue() const;

  Nic& nic_;
  ActivityListener& listener_;
  CacheLine send_state_;
  CacheLine receive_state_;
  std::vector<TimePoint> next_departures_; ///< by injection FIFO
  std::size_t connections_ = 0;
  std::deque<RdmaTransfer*> offloads_; ///< flows only: descriptors that are not done, in order
  TimePoint next_offload_;             ///< flows only: when the next descriptor may begin
  std::deque<Completion> completions_;
  SimThread* sleeper_ = nullptr; ///< in poll_until_report
  TraceLabel label_;
  TraceLabel queue_label_;
};

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
