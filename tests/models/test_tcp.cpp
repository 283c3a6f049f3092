// Sockets: order, buffers that fill, what one poll takes, and what each call costs.
#include "models/nic/tcp.hpp"
#include "support/wire.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace contend;

namespace {

TcpParameters small_tcp() {
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
      : here(engine, host, parameters, test::plain_route()), there(engine, other_host, parameters, test::plain_route()),
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
  Host host = test::free_host();
  Host other_host = test::free_host();
  test::Activity inbound{engine};
  test::Activity outbound{engine};
  test::Inbox inbox;
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
  const Duration start = test::clock(self);
  action();
  self.settle();
  return test::clock(self) - start;
}

} // namespace

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

TEST_CASE("a send costs more when the peer has read on another core since the last one", "[tcp]") {
  TcpParameters tcp = small_tcp();
  tcp.returned_send = 907'001_ps;
  const int core_of_the_peer = GENERATE(0, 1);
  Sockets sockets(true, tcp);
  std::vector<Duration> sends;
  sockets.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    for (int number = 0; number < 6; ++number) {
      if (number == 2) {
        self.spend(200_us, Category::software); // the peer reads meanwhile
      }
      if (number == 4) {
        self.spend(200_us, Category::software); // and polls in vain
      }
      sends.push_back(took(self, [&] { CHECK(sockets.stream->post(self, test::message(number), 40)); }));
    }
  });
  sockets.engine.spawn("peer", 0, core_of_the_peer, [&](SimThread& self) {
    self.spend(100_us, Category::software);
    CHECK(sockets.poll(self) == 2);
    self.spend(120_us, Category::software);
    CHECK(sockets.poll(self) == 2);
    self.spend(50_us, Category::software);
    CHECK(sockets.poll(self) == 0);
  });
  sockets.engine.run();
  const Duration alone = tcp.send_call + 40 * 100_ps;
  const Duration beside = core_of_the_peer == 1 ? alone + tcp.returned_send : alone;
  REQUIRE(sends.size() == 6);
  CHECK(sends == std::vector<Duration>{alone, alone, beside, alone, beside, alone}); // only once for each time
}

TEST_CASE("a send is beside a peer that reads for as long as the read takes", "[tcp]") {
  // The peer looks before the first send has ended, and reads through the second one; the third comes after it.
  TcpParameters tcp = small_tcp();
  tcp.returned_send = 907'001_ps;
  tcp.receive_call = 40_us;
  Sockets sockets(true, tcp);
  std::vector<Duration> sends;
  sockets.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    for (const Duration begin : {Duration{}, Duration{10_us}, Duration{20_us}, Duration{100_us}, Duration{110_us}}) {
      self.spend(begin - test::clock(self), Category::software);
      sends.push_back(
          took(self, [&] { CHECK(sockets.stream->post(self, test::message(static_cast<int>(sends.size())), 40)); }));
    }
  });
  sockets.engine.spawn("peer", 0, 1, [&](SimThread& self) {
    self.spend(5_us, Category::software);
    CHECK(sockets.poll(self) == 1); // until 45 us
  });
  sockets.engine.run();
  const Duration alone = tcp.send_call + 40 * 100_ps;
  const Duration beside = alone + tcp.returned_send; // at 100 us the read has ended since the last one
  CHECK(sends == std::vector<Duration>{alone, beside, beside, beside, alone});
}

TEST_CASE("sends beside a peer that acknowledges are delayed exponentially", "[tcp]") {
  TcpParameters tcp = small_tcp();
  tcp.returned_send = 200_ns;
  tcp.contended_send = 1100_ns;
  const bool answers = GENERATE(false, true);
  Sockets sockets(true, tcp);
  const double alone = (tcp.send_call + tcp.returned_send + 40 * 100_ps).in_seconds();
  constexpr int count = 8000;
  std::vector<double> delays;
  sockets.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    for (int number = 0; number < count; ++number) {
      self.spend(50_us, Category::software); // the peer reads meanwhile
      const Duration send = took(self, [&] { CHECK(sockets.stream->post(self, test::message(number), 40)); });
      if (number > 4) {
        delays.push_back(send.in_seconds() - alone);
      }
    }
  });
  sockets.engine.spawn("peer", 0, 1, [&](SimThread& self) {
    for (int taken = 0; taken < count;) {
      self.spend(5_us, Category::software);
      const int more = sockets.poll(self);
      if (taken == 0 && more > 0 && answers) {
        CHECK(sockets.answers().post(self, test::message(0), 40));
      }
      taken += more;
    }
  });
  sockets.engine.run();
  // Every message of a connection that is used one way is acknowledged, and every second one of one that is used both ways.
  std::erase_if(delays, [](double delay) { return std::abs(delay) < 1e-12; });
  CHECK(static_cast<double>(delays.size()) == Approx(answers ? count / 2 : count).epsilon(0.01));
  double sum = 0.0;
  double squares = 0.0;
  for (const double delay : delays) {
    sum += delay;
    squares += delay * delay;
  }
  const double mean = sum / static_cast<double>(delays.size());
  CHECK(mean == Approx(0.9e-6).epsilon(0.05));
  CHECK(std::sqrt(squares / static_cast<double>(delays.size()) - mean * mean) == Approx(0.9e-6).epsilon(0.1));
}

TEST_CASE("a receive that leaves nothing acknowledges one packet of a one-way connection, two of a two-way one",
          "[tcp][oracle]") {
  TcpParameters tcp = small_tcp();
  tcp.receive_packet = 53'003_ps;
  tcp.acknowledge = 1'709'021_ps;
  tcp.acknowledging_send = 211'007_ps;
  Sockets sockets(true, tcp);
  sockets.engine.spawn("both", 0, 0, [&](SimThread& self) {
    const Duration copy = 40 * 100_ps;
    const auto send = [&] { CHECK(sockets.stream->post(self, test::message(0), 40)); };
    const auto read = [&](int messages) { return took(self, [&] { CHECK(sockets.poll(self) == messages); }); };
    const auto answer = [&] { return took(self, [&] { CHECK(sockets.answers().post(self, test::message(0), 40)); }); };
    const auto costs = [&](int packets) {
      return tcp.poll_call + tcp.poll_socket + tcp.dispatch + tcp.receive_call + packets * (tcp.receive_packet + copy);
    };
    for (int round = 0; round < 2; ++round) {
      send();
      CHECK(read(1) == costs(1) + tcp.acknowledge);
    }
    send();
    send();
    CHECK(read(2) == costs(2) + tcp.acknowledge);
    CHECK(answer() == tcp.send_call + copy); // nothing was left to acknowledge
    send();
    CHECK(read(1) == costs(1));
    send();
    CHECK(read(1) == costs(1) + tcp.acknowledge);
    send();
    CHECK(read(1) == costs(1));
    CHECK(answer() == tcp.send_call + tcp.acknowledging_send + copy);
    send();
    CHECK(read(1) == costs(1)); // the answer has acknowledged the one before
  });
  sockets.engine.run();
}

TEST_CASE("a receive that leaves something acknowledges what is more than a packet has had", "[tcp][oracle]") {
  TcpParameters tcp = small_tcp();
  tcp.acknowledge = 1'709'021_ps;
  tcp.receive_bytes = 100;
  tcp.buffer_bytes = 100'000;
  const std::int64_t bytes = GENERATE(100, 600); // the least that a receiver expects is 536
  Sockets sockets(true, tcp);
  std::vector<bool> acknowledged;
  sockets.engine.spawn("both", 0, 0, [&](SimThread& self) {
    const Duration costs = tcp.poll_call + tcp.poll_socket + tcp.dispatch + tcp.receive_call + bytes * 100_ps;
    for (int sent = 0; sent < 10; ++sent) {
      CHECK(sockets.stream->post(self, test::message(0), bytes));
      if (sent > 0) { // one stays behind
        const Duration read = took(self, [&] { CHECK(sockets.poll(self) == 1); });
        acknowledged.push_back(read > costs);
        CHECK(read == costs + (acknowledged.back() ? tcp.acknowledge : Duration{}));
      }
    }
  });
  sockets.engine.run();
  const std::vector<bool> small{false, false, false, false, true,
                                false, false, false, false};                               // 600 bytes, then from none
  const std::vector<bool> large{true, false, true, false, true, false, true, false, true}; // two packets each time
  CHECK(acknowledged == (bytes == 100 ? small : large));
}

TEST_CASE("what a poll reports costs in that poll and in the next one", "[tcp][oracle]") {
  TcpParameters tcp = small_tcp();
  tcp.poll_event = 277'003_ps;
  Sockets sockets(true, tcp);
  sockets.engine.spawn("both", 0, 0, [&](SimThread& self) {
    const Duration empty = tcp.poll_call + tcp.poll_socket;
    CHECK(took(self, [&] { CHECK(sockets.poll(self) == 0); }) == empty);
    CHECK(sockets.stream->post(self, test::message(0), 40));
    CHECK(took(self, [&] { CHECK(sockets.poll(self) == 1); }) ==
          empty + tcp.poll_event + tcp.dispatch + tcp.receive_call + 40 * 100_ps);
    CHECK(took(self, [&] { CHECK(sockets.poll(self) == 0); }) == empty + tcp.poll_event);
    CHECK(took(self, [&] { CHECK(sockets.poll(self) == 0); }) == empty);
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

TEST_CASE("what is sent while the congestion window is full goes out when the peer acknowledges", "[tcp][oracle]") {
  TcpParameters tcp = small_tcp();
  tcp.window_packets = 3;
  tcp.queued_send_call = 203'017_ps;
  tcp.receive_packet = 53'003_ps;
  tcp.acknowledge = 1'709'021_ps;
  tcp.send_queue_bytes = 100'000;
  tcp.receive_bytes = 130; // three messages
  Sockets sockets(true, tcp);
  sockets.engine.spawn("both", 0, 0, [&](SimThread& self) {
    const auto send = [&](int tag) {
      return took(self, [&] { CHECK(sockets.stream->post(self, test::message(tag), 40)); });
    };
    const auto poll = [&](int messages) { return took(self, [&] { CHECK(sockets.poll(self) == messages); }); };
    const Duration copy = 40 * 100_ps;
    for (int tag = 0; tag < 8; ++tag) {
      CHECK(send(tag) == (tag < 3 ? tcp.send_call : tcp.queued_send_call) + copy);
    }
    const Duration look = tcp.poll_call + tcp.poll_socket + tcp.dispatch + tcp.receive_call;
    CHECK(poll(3) ==
          look + 3 * (tcp.receive_packet + copy) + tcp.acknowledge + tcp.send_call); // the other five in one packet
    CHECK(send(8) == tcp.send_call + copy);                                          // two are on their way now
    CHECK(send(9) == tcp.send_call + copy);
    CHECK(send(10) == tcp.queued_send_call + copy);
    CHECK(poll(3) == look + tcp.receive_packet + 3 * copy); // of the one packet; something is left
    CHECK(poll(3) == look + tcp.receive_packet + 3 * copy); // the rest of it and the next
    CHECK(send(11) == tcp.queued_send_call + copy);         // nothing is acknowledged yet
    CHECK(poll(1) == look + tcp.receive_packet + copy + tcp.acknowledge + tcp.send_call);
    CHECK(poll(2) == look + tcp.receive_packet + 2 * copy + tcp.acknowledge);
    CHECK_FALSE(sockets.receiver.has_completions());
    for (int tag = 12; tag < 15; ++tag) {
      CHECK(send(tag) == tcp.send_call + copy);
    }
    CHECK(send(15) == tcp.queued_send_call + copy);
    CHECK(poll(3) == look + 3 * (tcp.receive_packet + copy) + tcp.acknowledge + tcp.send_call);
    CHECK(poll(1) == look + tcp.receive_packet + copy + tcp.acknowledge);
  });
  sockets.engine.run();
  for (std::size_t i = 0; i < sockets.inbox.messages.size(); ++i) {
    CHECK(sockets.inbox.messages[i].tag == static_cast<int>(i));
  }
}

TEST_CASE("an answer lets out what waits for an acknowledgment", "[tcp][oracle]") {
  TcpParameters tcp = small_tcp();
  tcp.window_packets = 1;
  tcp.queued_send_call = 203'017_ps;
  tcp.send_queue_bytes = 100'000;
  Sockets sockets(true, tcp);
  sockets.engine.spawn("both", 0, 0, [&](SimThread& self) {
    for (int tag = 0; tag < 3; ++tag) {
      CHECK(sockets.stream->post(self, test::message(tag), 40));
    }
    const Duration answer = took(self, [&] { CHECK(sockets.answers().post(self, test::message(9), 40)); });
    CHECK(answer == 2 * tcp.send_call + 40 * 100_ps); // its own packet, and the one with both that have waited
    CHECK(sockets.poll(self) == 3);
    CHECK(sockets.poll(self, sockets.sender) == 1);
    CHECK_FALSE(sockets.receiver.has_completions());
    CHECK_FALSE(sockets.sender.has_completions());
  });
  sockets.engine.run();
}

TEST_CASE("what the peer's buffer has no room for waits in the sender's socket, up to its room", "[tcp]") {
  TcpParameters tcp = small_tcp(); // the peer's has room for ten packets of 40 bytes
  tcp.queued_send_call = 203'017_ps;
  tcp.send_queue_bytes = 400;
  Sockets sockets(true, tcp);
  sockets.engine.spawn("both", 0, 0, [&](SimThread& self) {
    int sent = 0;
    for (; sockets.stream->post(self, test::message(sent), 40); ++sent) {
    }
    CHECK(sent == 10 + 10);
    CHECK_FALSE(sockets.stream->has_room(40));
    CHECK(sockets.poll(self) == 6); // 600 bytes with their packets, so that ten without are there
    CHECK(sockets.stream->has_room(40));
    for (int taken = 6; taken < sent;) {
      const int more = sockets.poll(self);
      REQUIRE(more > 0);
      taken += more;
    }
    CHECK_FALSE(sockets.receiver.has_completions());
  });
  sockets.engine.run();
  REQUIRE(sockets.inbox.messages.size() == 20);
  for (std::size_t i = 0; i < sockets.inbox.messages.size(); ++i) {
    CHECK(sockets.inbox.messages[i].tag == static_cast<int>(i));
  }
}

TEST_CASE("a send under way when the window opens does not stay behind", "[tcp]") {
  // It began when the window was full, so that it costs what joining the queue costs; the peer reads everything meanwhile.
  TcpParameters tcp = small_tcp();
  tcp.window_packets = 1;
  tcp.queued_send_call = 500_us;
  tcp.send_queue_bytes = 100'000;
  Sockets sockets(true, tcp);
  sockets.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    CHECK(sockets.stream->post(self, test::message(0), 40));
    CHECK(sockets.stream->post(self, test::message(1), 40));
  });
  sockets.engine.spawn("receiver", 0, 1, [&](SimThread& self) {
    self.spend(100_us, Category::software);
    CHECK(sockets.poll(self) == 1);
    CHECK_FALSE(sockets.receiver.has_completions());
  });
  sockets.engine.run();
  CHECK(sockets.receiver.has_completions());
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
