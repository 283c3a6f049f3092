// A network interface with user-level contexts: each context has send queues (one per endpoint) and one completion queue.
#pragma once

#include "core/cache_line.hpp"
#include "core/engine.hpp"
#include "core/host.hpp"
#include "models/fabric/parameters.hpp"
#include "models/matching/envelope.hpp"
#include "models/matching/matcher.hpp"
#include "models/nic/parameters.hpp"

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

class Endpoint;
class Nic;
class NicContext;

/// Receives what a completion queue reports.
class CompletionHandler {
public:
  virtual ~CompletionHandler() = default;
  /// A message has arrived. Runs on the polling thread and may spend time and take locks.
  virtual void receive(SimThread& self, const Envelope& envelope) = 0;
};

/// Told that a completion queue has something to report, so that a sleeping poller can look.
class ActivityListener {
public:
  virtual ~ActivityListener() = default;
  virtual void activity(NicContext& context) = 0;
  /// A message has arrived and is not in its completion queue yet. Runs in an event: an interface that matches messages
  /// does it here, and says how long it takes.
  virtual HardwareMatcher::Time arrived(Envelope& /*envelope*/) { return {}; }
};

/// A message on its way, or a batch of send completions on its way back.
class Packet final : public Event {
public:
  explicit Packet(Engine& engine) : Event(engine) {}
  void fire() override;

private:
  friend class Nic;
  friend class Endpoint;
  enum class Stage { wire, receive_queue, matched, send_completion, grant };

  Stage stage_ = Stage::wire;
  NicContext* destination_ = nullptr;
  Endpoint* sender_ = nullptr;
  int completions_ = 0;
  bool wants_grant_ = false;
  Envelope envelope_;
};

/// A queue pair's send side: a connection from one context to a context of another process.
class Endpoint {
public:
  Endpoint(NicContext& local, NicContext& remote);

  /// Builds a work request and rings the doorbell. Returns false, having spent only a look, when the send queue is full
  /// or the peer has not granted more messages. The caller holds the lock of the context.
  bool post(SimThread& self, const Envelope& envelope, std::int64_t wire_bytes);

  [[nodiscard]] int outstanding() const { return outstanding_; }

private:
  friend class NicContext;
  friend class Packet;
  void grant(SimThread& self);

  NicContext& local_;
  NicContext& remote_;
  int credits_;         ///< messages that may be sent before the next grant
  int outstanding_ = 0; ///< work requests whose completion has not been polled
  int unreported_ = 0;  ///< posted since the last work request that asks for a completion
};

/// A communication resource instance's hardware: what one lock protects.
class NicContext {
public:
  NicContext(Nic& nic, ActivityListener& listener, std::string_view name, int process);

  /// Looks at the completion queue and handles up to poll_batch entries. Returns how many there were. The caller holds
  /// the lock of the context. A look that finds nothing is charged to poll_idle.
  int poll(SimThread& self, CompletionHandler& handler);
  /// The two parts of poll(): what it costs to look, and handling what is there.
  void look(SimThread& self);
  int drain(SimThread& self, CompletionHandler& handler);

  [[nodiscard]] bool has_completions() const { return !completions_.empty(); }
  [[nodiscard]] Nic& nic() const { return nic_; }

private:
  friend class Endpoint;
  friend class Packet;

  struct Completion {
    enum class Kind { sent, received, granted };
    Kind kind = Kind::received;
    Endpoint* endpoint = nullptr; ///< whose send it was; the peer's for a received message
    int count = 0;                ///< sends that are complete
    bool wants_grant = false;
    Envelope envelope;
  };

  void report(const Completion& completion);
  void show_queue() const;

  Nic& nic_;
  ActivityListener& listener_;
  CacheLine send_state_;
  CacheLine receive_state_;
  TimePoint next_departure_;
  std::deque<Completion> completions_;
  TraceLabel label_;
  TraceLabel queue_label_;
};

/// One interface of a host.
class Nic {
public:
  Nic(Engine& engine, const Host& host, const NicParameters& parameters, const RouteParameters& route, int number = 0)
      : engine_(engine), host_(host), parameters_(parameters), route_(route),
        send_label_("host " + std::to_string(number) + "/send", number),
        receive_label_("host " + std::to_string(number) + "/receive", number) {}

  /// `process` is the number of the process that uses it, for traces.
  NicContext& create_context(ActivityListener& listener, std::string_view name, int process = -1);

  [[nodiscard]] Engine& engine() const { return engine_; }
  [[nodiscard]] const Host& host() const { return host_; }
  [[nodiscard]] const NicParameters& parameters() const { return parameters_; }
  [[nodiscard]] const RouteParameters& route() const { return route_; }
  [[nodiscard]] std::uint64_t messages_sent() const { return messages_sent_; }
  [[nodiscard]] std::uint64_t messages_received() const { return messages_received_; }

private:
  friend class Endpoint;
  friend class Packet;

  Packet& take_packet();
  void give_back(Packet& packet) { free_packets_.push_back(&packet); }
  /// Time on the wire for `bytes` at the bandwidth of the route.
  [[nodiscard]] Duration serialization(std::int64_t bytes) const;

  Engine& engine_;
  const Host& host_;
  NicParameters parameters_;
  RouteParameters route_;
  TraceLabel send_label_;
  TraceLabel receive_label_;
  TimePoint next_departure_;
  TimePoint next_reception_;
  TimePoint matching_until_; ///< when the tag-matching unit has done all that has arrived
  std::uint64_t messages_sent_ = 0;
  std::uint64_t messages_received_ = 0;
  std::vector<std::unique_ptr<NicContext>> contexts_;
  std::vector<std::unique_ptr<Packet>> packets_;
  std::vector<Packet*> free_packets_;
};

} // namespace contend
