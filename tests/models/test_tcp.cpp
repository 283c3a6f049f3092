// Sockets: order, buffers that fill, what one poll takes, and what each call costs.
#include "support/sockets.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace contend;
using test::small_tcp;
using test::Sockets;
using test::took;

TEST_CASE("a message on one host is there when the send call returns", "[tcp]") {
  Sockets sockets;
  const TcpParameters tcp = small_tcp();
  sockets.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    CHECK(sockets.stream->post(self, test::message(1), 40));
    self.settle();
    CHECK(test::clock(self) == tcp.send_call + 40 * 100_ps);
    CHECK(sockets.receiver.has_completions());
  });
  sockets.engine.run();
  REQUIRE(sockets.inbound.times.size() == 1);
  CHECK(sockets.inbound.times[0].context == &sockets.receiver);
}

TEST_CASE("a message on one host is there before its send call returns", "[tcp]") {
  TcpParameters tcp = small_tcp();
  tcp.arrival_share = 0.75;
  Sockets sockets(true, tcp);
  sockets.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    const Duration whole = took(self, [&] { CHECK(sockets.stream->post(self, test::message(1), 40)); });
    CHECK(whole == tcp.send_call + 40 * 100_ps);
  });
  sockets.engine.run();
  REQUIRE(sockets.inbound.times.size() == 1);
  CHECK(sockets.inbound.times[0].time.since_start() == tcp.send_call.scaled(0.75) + 40 * 100_ps);
}

TEST_CASE("what a poll reports costs in that poll, and once more when it has been read", "[tcp][oracle]") {
  TcpParameters tcp = small_tcp();
  tcp.poll_event = 277'003_ps;
  tcp.receive_bytes = 50; // one message
  Sockets sockets(true, tcp);
  sockets.engine.spawn("both", 0, 0, [&](SimThread& self) {
    const Duration empty = tcp.poll_call + tcp.poll_socket;
    const Duration one = empty + tcp.poll_event + tcp.dispatch + tcp.receive_call + 40 * 100_ps;
    const auto poll = [&](int messages) { return took(self, [&] { CHECK(sockets.poll(self) == messages); }); };
    CHECK(poll(0) == empty);
    CHECK(sockets.stream->post(self, test::message(0), 40));
    CHECK(sockets.stream->post(self, test::message(0), 40));
    CHECK(poll(1) == one);
    CHECK(poll(1) == one); // it is found ready when it is looked at again, and reported
    CHECK(sockets.receiver.next_look_is_longer());
    CHECK(poll(0) == empty + tcp.poll_event);
    CHECK_FALSE(sockets.receiver.next_look_is_longer());
    CHECK(poll(0) == empty);
  });
  sockets.engine.run();
}

TEST_CASE("a socket that another core used last costs more", "[tcp][oracle]") {
  TcpParameters tcp = small_tcp();
  tcp.moved_send = 503'003_ps;
  tcp.moved_receive = 607'007_ps;
  Sockets sockets(true, tcp);
  std::vector<Duration> sends;
  std::vector<Duration> polls;
  const auto use = [&](int core, Duration begin) {
    sockets.engine.spawn("thread " + std::to_string(core), 0, core, [&sockets, &sends, &polls, begin](SimThread& self) {
      self.spend(begin, Category::software);
      for (int number = 0; number < 2; ++number) {
        const Duration asked = test::clock(self);
        CHECK(sockets.stream->post(self, test::message(number), 0));
        self.settle();
        const Duration sent = test::clock(self);
        CHECK(sockets.poll(self) == 1);
        self.settle();
        sends.push_back(sent - asked);
        polls.push_back(test::clock(self) - sent);
      }
    });
  };
  use(0, Duration{});
  use(1, 1_ms);
  sockets.engine.run();
  REQUIRE(sends.size() == 4);
  CHECK(sends[0] == tcp.send_call); // the first one moves nothing
  CHECK(sends[1] == tcp.send_call);
  CHECK(sends[2] == tcp.send_call + tcp.moved_send);
  CHECK(sends[3] == tcp.send_call);
  CHECK(polls[1] == polls[0]);
  CHECK(polls[2] == polls[0] + tcp.moved_receive);
  CHECK(polls[3] == polls[0]);
}

TEST_CASE("between hosts a message takes the wire", "[tcp]") {
  Sockets sockets(false);
  const TcpParameters tcp = small_tcp();
  const Duration on_wire = 40 * 100_ps; // 10 GB/s
  sockets.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    CHECK(sockets.stream->post(self, test::message(1), 40));
    CHECK_FALSE(sockets.receiver.has_completions());
    CHECK(sockets.stream->post(self, test::message(2), 40));
  });
  sockets.engine.run();
  REQUIRE(sockets.inbound.times.size() == 2);
  const Duration call = tcp.send_call + 40 * 100_ps;
  CHECK(sockets.inbound.times[0].time.since_start() == call + test::plain_route().latency + on_wire);
  CHECK(sockets.inbound.times[1].time.since_start() == 2 * call + test::plain_route().latency + on_wire);
}

TEST_CASE("connections of a host share its link, and the receiver's", "[tcp]") {
  Sockets sockets(false);
  Host third_host = test::free_host();
  TcpTransport third(sockets.engine, third_host, small_tcp(), test::plain_route());
  const Duration on_wire = 900 * 100_ps; // one at a time
  const Duration call = small_tcp().send_call + 900 * 100_ps;
  const Duration latency = test::plain_route().latency;
  SECTION("of the sender") {
    test::Activity inbound{sockets.engine};
    TcpContext& elsewhere = third.create_context(inbound, "elsewhere", 2);
    const auto other = sockets.here.connect(sockets.sender, elsewhere);
    for (Connection* const stream : {sockets.stream.get(), other.get()}) {
      sockets.engine.spawn("sender", 0, stream == other.get() ? 1 : 0,
                           [stream](SimThread& self) { CHECK(stream->post(self, test::message(1), 900)); });
    }
    sockets.engine.run();
    REQUIRE(inbound.times.size() == 1);
    CHECK(inbound.times[0].time.since_start() == call + latency + 2 * on_wire);
  }
  SECTION("of the receiver") {
    test::Activity outbound{sockets.engine};
    TcpContext& elsewhere = third.create_context(outbound, "elsewhere", 2);
    const auto other = third.connect(elsewhere, sockets.receiver);
    for (Connection* const stream : {sockets.stream.get(), other.get()}) {
      sockets.engine.spawn("sender", 0, stream == other.get() ? 1 : 0,
                           [stream](SimThread& self) { CHECK(stream->post(self, test::message(1), 900)); });
    }
    sockets.engine.run();
    REQUIRE(sockets.inbound.times.size() == 2);
    CHECK(sockets.inbound.times[1].time.since_start() == call + latency + 2 * on_wire);
  }
}

TEST_CASE("one receive call takes what fits, in order, and the rest is reported again", "[tcp]") {
  Sockets sockets;
  const TcpParameters tcp = small_tcp();
  sockets.engine.spawn("both", 0, 0, [&](SimThread& self) {
    for (int tag = 0; tag < 5; ++tag) {
      CHECK(sockets.stream->post(self, test::message(tag), 100));
    }
    self.settle();
    const Duration start = test::clock(self);
    CHECK(sockets.poll(self) == 2); // of 250 bytes
    self.settle();
    CHECK(test::clock(self) - start ==
          tcp.poll_call + tcp.poll_socket + tcp.dispatch + tcp.receive_call + 200 * 100_ps);
    CHECK(sockets.receiver.has_completions());
    CHECK(sockets.poll(self) == 2);
    CHECK(sockets.poll(self) == 1);
    CHECK_FALSE(sockets.receiver.has_completions());
    CHECK(sockets.poll(self) == 0);
  });
  sockets.engine.run();
  for (std::size_t i = 0; i < sockets.inbox.messages.size(); ++i) {
    CHECK(sockets.inbox.messages[i].tag == static_cast<int>(i));
  }
}

TEST_CASE("a message larger than one receive call is taken alone", "[tcp]") {
  Sockets sockets;
  sockets.engine.spawn("both", 0, 0, [&](SimThread& self) {
    CHECK(sockets.stream->post(self, test::message(0), 900));
    CHECK(sockets.poll(self) == 1);
  });
  sockets.engine.run();
}

TEST_CASE("buffers fill, and reading makes room", "[tcp]") {
  Sockets sockets;
  const TcpParameters tcp = small_tcp();
  sockets.engine.spawn("both", 0, 0, [&](SimThread& self) {
    int sent = 0;
    while (sockets.stream->post(self, test::message(sent), 40)) {
      ++sent;
    }
    CHECK(sent == 10); // 100 of 1000 bytes each
    self.settle();
    const Duration full = test::clock(self);
    CHECK_FALSE(sockets.stream->post(self, test::message(99), 40));
    self.settle();
    CHECK(test::clock(self) - full == tcp.full_send_call);
    const std::size_t told = sockets.outbound.times.size();
    CHECK(sockets.poll(self) == 6);
    CHECK(sockets.outbound.times.size() == told + 1); // who waits for room may look
    CHECK(sockets.stream->has_room(40));
    CHECK(sockets.stream->has_room(540)); // six of 100 bytes are free
    CHECK_FALSE(sockets.stream->has_room(541));
    CHECK(sockets.stream->post(self, test::message(sent), 40));
  });
  sockets.engine.run();
}

TEST_CASE("a message above the buffers goes out alone", "[tcp]") {
  Sockets sockets;
  sockets.engine.spawn("both", 0, 0, [&](SimThread& self) {
    CHECK(sockets.stream->post(self, test::message(0), 5000));
    CHECK_FALSE(sockets.stream->post(self, test::message(1), 5000));
    CHECK(sockets.poll(self) == 1);
    CHECK(sockets.stream->post(self, test::message(1), 5000));
  });
  sockets.engine.run();
}

TEST_CASE("pieces and writes go through the socket; memory of the peer cannot be read", "[tcp]") {
  class Transferred final : public CompletionHandler {
  public:
    void receive(SimThread& /*self*/, const Envelope& envelope) override { received.push_back(envelope.tag); }
    void transferred(SimThread& /*self*/, const Envelope& envelope) override { over.push_back(envelope.tag); }
    std::vector<int> received;
    std::vector<int> over;
  };
  Sockets sockets;
  Transferred handler;
  sockets.engine.spawn("both", 0, 0, [&](SimThread& self) {
    CHECK_THROWS_AS(sockets.stream->post_bulk(self, Bulk::read, test::message(0), 10), std::logic_error);
    CHECK(sockets.stream->post_bulk(self, Bulk::send, test::message(3), 200));
    CHECK(sockets.sender.drain(self, handler) == 1);
    CHECK(sockets.receiver.drain(self, handler) == 1);
    CHECK(sockets.stream->post_bulk(self, Bulk::write, test::message(4), 100));
    CHECK(sockets.stream->post(self, test::message(5), 40));
    CHECK(sockets.sender.drain(self, handler) == 1);
    self.settle();
    const Duration start = test::clock(self);
    CHECK(sockets.receiver.drain(self, handler) == 2); // by one call, which pays for the bytes of both
    self.settle();
    CHECK(test::clock(self) - start == small_tcp().dispatch + small_tcp().receive_call + 140 * 100_ps);
  });
  sockets.engine.run();
  CHECK(handler.over == std::vector<int>{3, 4});
  CHECK(handler.received == std::vector<int>{3, 5}); // of a write nobody is told
}
