// Hosts with one interface each, and contexts that record what happens to them.
#pragma once

#include "machine.hpp"
#include "models/nic/nic.hpp"

#include <memory>
#include <string>
#include <vector>

namespace contend::test {

/// No gap, no queue limit that a test would meet by accident.
inline NicParameters plain_nic() {
  NicParameters nic;
  nic.post = 60'013_ps;
  nic.doorbell = 40'009_ps;
  nic.wqe_fetch = 150'011_ps;
  nic.completion = 30'011_ps;
  nic.empty_poll = 20'021_ps;
  nic.max_contexts = 64;
  nic.send_queue_depth = 1 << 20;
  nic.send_completion_batch = 1;
  nic.flow_control_window = 0;
  nic.poll_batch = 1 << 20;
  return nic;
}

inline RouteParameters plain_route() { return {1'000'003_ps, 10e9}; }

/// On the wire of plain_route().
inline Duration serialization(std::int64_t bytes) { return 100_ps * bytes; }

/// Remembers when a completion queue got something to report.
class Activity final : public ActivityListener {
public:
  explicit Activity(Engine& engine) : engine_(engine) {}
  void activity(TransportContext& context) override { times.push_back({engine_.now(), &context}); }

  struct Entry {
    TimePoint time;
    TransportContext* context;
  };
  std::vector<Entry> times;

private:
  Engine& engine_;
};

/// Keeps what it receives.
class Inbox final : public CompletionHandler {
public:
  void receive(SimThread& /*self*/, const Envelope& envelope) override { messages.push_back(envelope); }
  std::vector<Envelope> messages;
};

/// `senders` interfaces connected to one receiving interface.
class Wire {
public:
  explicit Wire(const NicParameters& parameters, const RouteParameters& route = plain_route(), int senders = 1)
      : host(small_host()), receiver(engine, host, parameters, route), inbound(engine), outbound(engine) {
    for (int i = 0; i < senders; ++i) {
      interfaces.push_back(std::make_unique<Nic>(engine, host, parameters, route));
    }
  }

  /// A context of sending interface `sender` and its connection to a new context of the receiver.
  Endpoint& connect(int sender = 0) {
    const std::string name = std::to_string(endpoints.size());
    locals.push_back(&interfaces[static_cast<std::size_t>(sender)]->create_context(outbound, "local " + name));
    remotes.push_back(&receiver.create_context(inbound, "remote " + name));
    endpoints.push_back(std::make_unique<Endpoint>(*locals.back(), *remotes.back()));
    return *endpoints.back();
  }

  Engine engine{1};
  Host host;
  std::vector<std::unique_ptr<Nic>> interfaces;
  Nic receiver;
  Activity inbound;
  Activity outbound;
  std::vector<NicContext*> locals;
  std::vector<NicContext*> remotes;
  std::vector<std::unique_ptr<Endpoint>> endpoints;
};

inline Envelope message(int tag, std::uint16_t sequence = 0) { return {0, 0, tag, sequence, 0}; }

inline const NicParameters plain = plain_nic();
inline const RouteParameters route = plain_route();

} // namespace contend::test
