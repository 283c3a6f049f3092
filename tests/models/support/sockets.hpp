// Two contexts of sockets, on one host or on two.
#pragma once

#include "models/nic/tcp.hpp"
#include "wire.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <utility>

namespace contend::test {

inline TcpParameters small_tcp() {
  TcpParameters tcp;
  tcp.send_call = 2'003'009_ps;
  tcp.full_send_call = 301'013_ps;
  tcp.receive_call = 701'017_ps;
  tcp.poll_call = 401'003_ps;
  tcp.poll_socket = 21'011_ps;
  tcp.dispatch = 31'019_ps;
  tcp.copy_bytes_per_second = 10e9; // 100 ps per byte
  tcp.buffer_bytes = 1000;
  tcp.packet_bytes = 60;
  tcp.receive_bytes = 250;
  return tcp;
}

/// Two contexts of one host, or of two, with a stream from the first to the second, and one back where that is asked for.
struct Sockets {
  explicit Sockets(bool same_host = true, const TcpParameters& parameters = small_tcp())
      : here(engine, host, parameters, plain_route()), there(engine, other_host, parameters, plain_route()),
        sender(here.create_context(outbound, "sender", 0)),
        receiver((same_host ? here : there).create_context(inbound, "receiver", 1)),
        stream(here.connect(sender, receiver)) {}

  /// One poll: a look, and what is there.
  int poll(SimThread& self) { return poll(self, receiver); }
  int poll(SimThread& self, TcpContext& context) {
    context.look(self);
    return context.drain(self, inbox);
  }
  /// The stream in the other direction.
  Connection& answers() {
    if (back == nullptr) {
      back = there.connect(receiver, sender);
    }
    return *back;
  }

  Engine engine{1};
  Host host = free_host();
  Host other_host = free_host();
  Activity inbound{engine};
  Activity outbound{engine};
  Inbox inbox;
  TcpTransport here;
  TcpTransport there;
  TcpContext& sender;
  TcpContext& receiver;
  std::unique_ptr<Connection> stream;
  std::unique_ptr<Connection> back;
};

/// How long an action takes a thread.
template <typename Action>
Duration took(SimThread& self, Action&& action) {
  self.settle();
  const Duration start = clock(self);
  action();
  self.settle();
  return clock(self) - start;
}

} // namespace contend::test
