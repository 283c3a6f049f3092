// Sockets: when a receive acknowledges, what that costs, and what waits for it.
#include "support/sockets.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace contend;
using test::small_tcp;
using test::Sockets;
using test::took;

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

TEST_CASE("sends during which the peer acknowledges are delayed exponentially", "[tcp]") {
  TcpParameters tcp = small_tcp();
  tcp.returned_send = 200_ns;
  tcp.contended_send = 1100_ns;
  tcp.acknowledge = 3_us; // so that a receive ends 4 us after its message has come
  const bool answers = GENERATE(false, true);
  const Duration gap = GENERATE(3_us, 10_us);
  Sockets sockets(true, tcp);
  const double alone = (tcp.send_call + tcp.returned_send + 40 * 100_ps).in_seconds();
  constexpr int count = 8000;
  std::vector<double> delays;
  sockets.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    for (int number = 0; number < count; ++number) {
      const Duration send = took(self, [&] { CHECK(sockets.stream->post(self, test::message(number), 40)); });
      if (number > 4) {
        delays.push_back(send.in_seconds() - alone);
      }
      self.spend(gap, Category::software);
    }
  });
  sockets.engine.spawn("peer", 0, 1, [&](SimThread& self) {
    for (int taken = 0; taken < count;) {
      const int more = sockets.poll(self);
      if (taken == 0 && more > 0 && answers) {
        CHECK(sockets.answers().post(self, test::message(0), 40));
      }
      taken += more;
    }
  });
  sockets.engine.run();
  std::erase_if(delays, [](double delay) { return std::abs(delay) < 1e-12; });
  if (gap == 10_us) {
    CHECK(delays.empty()); // it is over before the next send begins
    return;
  }
  // Every message of a connection that is used one way is acknowledged, but is not waited for by a send that begins late because
  // the one before it was delayed; every second one where it is used both ways.
  const double part = static_cast<double>(delays.size()) / count;
  CHECK(part > (answers ? 0.45 : 0.6));
  CHECK(part < (answers ? 0.51 : 0.9));
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

TEST_CASE("nothing stays in a sender's socket once the peer has read everything", "[tcp]") {
  TcpParameters tcp = small_tcp(); // the peer's socket has room for 1000 bytes
  tcp.queued_send_call = 203'017_ps;
  tcp.send_queue_bytes = 100'000;
  tcp.window_packets = GENERATE(1, 2, 200);
  const bool two_way = GENERATE(false, true);
  Sockets sockets(true, tcp);
  sockets.engine.spawn("both", 0, 0, [&](SimThread& self) {
    int sent = 0;
    const auto send = [&](std::int64_t bytes) { CHECK(sockets.stream->post(self, test::message(sent++), bytes)); };
    int read = 0;
    const auto read_all = [&] {
      while (sockets.receiver.has_completions()) {
        read += sockets.poll(self);
      }
    };
    send(40);
    read_all();
    if (two_way) {
      CHECK(sockets.answers().post(self, test::message(0), 40));
    }
    for (const std::int64_t bytes : {40, 900, 40, 990, 40, 40, 5000, 40}) { // many do not fit beside the one before
      send(bytes);
      if (bytes == 990) {
        read += sockets.poll(self); // one of several
      }
    }
    read_all();
    CHECK(read == sent);
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
