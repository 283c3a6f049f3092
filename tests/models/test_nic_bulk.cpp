// Bulk transfers: how long one takes on an empty wire, and how several share it.
#include "support/wire.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace contend;
using test::cache;
using test::route;

namespace {

NicParameters bulk_nic() {
  NicParameters nic = test::plain_nic();
  nic.mtu_bytes = 1'000;
  nic.packet_bytes = 50;
  return nic;
}

const NicParameters bulk_plain = bulk_nic();
const Duration bulk_post = cache.l3_hit + cache.hit + bulk_plain.post + bulk_plain.doorbell;

/// On the wire, with the headers of its packets.
Duration wire_time(std::int64_t bytes) {
  const std::int64_t packets = std::max<std::int64_t>(1, (bytes + bulk_plain.mtu_bytes - 1) / bulk_plain.mtu_bytes);
  return 100_ps * (bytes + packets * bulk_plain.packet_bytes);
}

Envelope cookie(int tag) { return {0, 0, tag, 0, 0, Header::fragment, nullptr}; }

/// When the poster finds the end of one transfer in its completion queue, and the peer a message (0: never).
struct Finish {
  Duration poster{};
  Duration peer{};
};

Finish single(Bulk kind, std::int64_t bytes, const NicParameters& parameters = bulk_plain) {
  test::Wire wire(parameters);
  Endpoint& endpoint = wire.connect();
  wire.engine.spawn("poster", 0, 0, [&](SimThread& self) {
    REQUIRE(endpoint.post_bulk(self, kind, cookie(1), bytes));
    REQUIRE(endpoint.outstanding() == 1);
    CHECK(test::clock(self) == bulk_post); // the interfaces do the rest
  });
  wire.engine.run();
  REQUIRE(wire.outbound.times.size() == 1);
  Finish end{wire.outbound.times[0].time.since_start(), {}};
  if (!wire.inbound.times.empty()) {
    REQUIRE(wire.inbound.times.size() == 1);
    end.peer = wire.inbound.times[0].time.since_start();
  }
  return end;
}

class Ends final : public CompletionHandler {
public:
  void receive(SimThread& /*self*/, const Envelope& envelope) override { received.push_back(envelope.tag); }
  void transferred(SimThread& /*self*/, const Envelope& envelope) override { over.push_back(envelope.tag); }
  std::vector<int> received;
  std::vector<int> over;
};

} // namespace

TEST_CASE("one transfer on an empty wire takes latencies, fetches and its bytes", "[nic][bulk]") {
  for (const std::int64_t bytes : {1, 999, 1'000, 1'001, 64'000, 1'000'000, 123'456'789}) {
    CAPTURE(bytes);
    const Duration there = bulk_post + bulk_plain.wqe_fetch + wire_time(bytes) + route.latency;
    const Finish write = single(Bulk::write, bytes);
    CHECK(write.poster == there + route.latency);
    CHECK(write.peer == Duration{}); // the target's processor has no part in it
    const Finish send = single(Bulk::send, bytes);
    CHECK(send.peer == there);
    CHECK(send.poster == there + route.latency);
    const Finish read = single(Bulk::read, bytes);
    const Duration request = bulk_plain.wqe_fetch + 100_ps * bulk_plain.packet_bytes + route.latency;
    CHECK(read.poster == bulk_post + request + bulk_plain.wqe_fetch + wire_time(bytes) + route.latency);
    CHECK(read.peer == Duration{});
  }
}

TEST_CASE("the first packet of a transfer is fetched, and the last one passes the bus after the wire",
          "[nic][bulk][oracle]") {
  NicParameters parameters = bulk_plain;
  parameters.payload_fetch = 400'007_ps;
  parameters.bus_bytes_per_second = 20e9;
  for (const std::int64_t bytes : {1, 999, 1'000, 1'001, 2'001, 64'000, 1'000'000}) { // short last packets, too
    CAPTURE(bytes);
    const Duration buses = 2 * (50_ps * std::min<std::int64_t>(bytes, parameters.mtu_bytes));
    for (const Bulk kind : {Bulk::write, Bulk::send}) {
      CHECK(single(kind, bytes, parameters).poster == single(kind, bytes).poster + parameters.payload_fetch + buses);
    }
    // The target's interface takes wqe_fetch for reading its memory.
    CHECK(single(Bulk::read, bytes, parameters).poster == single(Bulk::read, bytes).poster + buses);
  }
}

TEST_CASE("the message rate of the interface bounds small packets", "[nic][bulk]") {
  NicParameters parameters = bulk_plain;
  parameters.nic_gap = 500_ns; // a packet of 1050 bytes takes 105 ns
  test::Wire wire(parameters);
  Endpoint& endpoint = wire.connect();
  wire.engine.spawn("poster", 0, 0,
                    [&](SimThread& self) { REQUIRE(endpoint.post_bulk(self, Bulk::send, cookie(0), 100'000)); });
  wire.engine.run();
  const Duration last = bulk_post + bulk_plain.wqe_fetch + 99 * parameters.nic_gap + 105_ns + route.latency;
  CHECK(wire.inbound.times[0].time.since_start() == last);
}

TEST_CASE("n transfers of equal size take n times as long, and end together", "[nic][bulk]") {
  constexpr std::int64_t bytes = 1'000'000;
  for (const Bulk kind : {Bulk::write, Bulk::read, Bulk::send}) {
    for (const int transfers : {2, 3, 8}) {
      CAPTURE(static_cast<int>(kind), transfers);
      test::Wire wire(bulk_plain);
      for (int i = 0; i < transfers; ++i) {
        Endpoint& endpoint = wire.connect();
        wire.engine.spawn("poster " + std::to_string(i), 0, i, [&endpoint, kind, i](SimThread& self) {
          REQUIRE(endpoint.post_bulk(self, kind, cookie(i), bytes));
        });
      }
      wire.engine.run();
      REQUIRE(wire.outbound.times.size() == static_cast<std::size_t>(transfers));
      const Duration alone = single(kind, bytes).poster;
      const Duration last = wire.outbound.times.back().time.since_start();
      CHECK(last == alone + (transfers - 1) * wire_time(bytes));
      const Duration round = transfers * wire_time(4 * bulk_plain.mtu_bytes); // 1000 packets go in 250 bursts of 4
      CHECK(last - wire.outbound.times.front().time.since_start() <= round);
    }
  }
}

TEST_CASE("a short transfer does not wait for a long one", "[nic][bulk]") {
  test::Wire wire(bulk_plain);
  Endpoint& one = wire.connect();
  Endpoint& other = wire.connect();
  constexpr std::int64_t long_bytes = 10'000'000;
  constexpr std::int64_t short_bytes = 100'000;
  wire.engine.spawn("poster", 0, 0, [&](SimThread& self) {
    REQUIRE(one.post_bulk(self, Bulk::send, cookie(0), long_bytes));
    self.spend(100_us, Category::software);
    REQUIRE(other.post_bulk(self, Bulk::send, cookie(1), short_bytes));
  });
  wire.engine.run();
  REQUIRE(wire.inbound.times.size() == 2);
  CHECK(wire.inbound.times[0].context == wire.remotes[1]);
  // 100 packets against bursts of 40: a burst of the other in between each of its own packets, at most.
  const Duration began = bulk_post + 100_us + bulk_plain.wqe_fetch;
  CHECK(wire.inbound.times[0].time.since_start() <
        began + wire_time(short_bytes) + 102 * wire_time(40 * bulk_plain.mtu_bytes) + route.latency + 1_us);
  // The wire is never idle in between.
  CHECK(wire.inbound.times[1].time.since_start() ==
        bulk_post + bulk_plain.wqe_fetch + wire_time(long_bytes) + wire_time(short_bytes) + route.latency);
}

TEST_CASE("small messages go between the bursts of a transfer", "[nic][bulk]") {
  test::Wire wire(bulk_plain);
  Endpoint& bulk = wire.connect();
  Endpoint& small = wire.connect();
  wire.engine.spawn("poster", 0, 0, [&](SimThread& self) {
    REQUIRE(bulk.post_bulk(self, Bulk::send, cookie(0), 1'000'000));
    self.spend(20_us, Category::software);
    REQUIRE(small.post(self, test::message(1), 40));
  });
  wire.engine.run();
  REQUIRE(wire.inbound.times.size() == 2);
  CHECK(wire.inbound.times[0].context == wire.remotes[1]);
  const Duration posted = bulk_post + 20_us + bulk_plain.wqe_fetch;
  CHECK(wire.inbound.times[0].time.since_start() <
        posted + 2 * wire_time(4 * bulk_plain.mtu_bytes) + route.latency + 1_us);
}

TEST_CASE("what several hosts send to one shares its wire", "[nic][bulk]") {
  constexpr std::int64_t bytes = 1'000'000;
  for (const int senders : {2, 5}) {
    test::Wire wire(bulk_plain, route, senders);
    for (int i = 0; i < senders; ++i) {
      Endpoint& endpoint = wire.connect(i);
      wire.engine.spawn("poster " + std::to_string(i), 0, i, [&endpoint](SimThread& self) {
        REQUIRE(endpoint.post_bulk(self, Bulk::send, cookie(0), bytes));
      });
    }
    wire.engine.run();
    const Duration last = wire.inbound.times.back().time.since_start();
    const Duration alone = single(Bulk::send, bytes).peer;
    CHECK(last >= alone + (senders - 1) * wire_time(bytes) - wire_time(4 * bulk_plain.mtu_bytes));
    CHECK(last <= alone + (senders - 1) * wire_time(bytes) + wire_time(4 * bulk_plain.mtu_bytes));
  }
}

TEST_CASE("transfers fill the send queue, and their end empties it", "[nic][bulk]") {
  NicParameters parameters = bulk_plain;
  parameters.send_queue_depth = 3;
  parameters.send_completion_batch = 8;
  test::Wire wire(parameters);
  Endpoint& endpoint = wire.connect();
  Ends ends;
  wire.engine.spawn("poster", 0, 0, [&](SimThread& self) {
    REQUIRE(endpoint.post(self, test::message(7), 0));
    REQUIRE(endpoint.post_bulk(self, Bulk::write, cookie(1), 5'000));
    REQUIRE(endpoint.post_bulk(self, Bulk::read, cookie(2), 5'000));
    REQUIRE_FALSE(endpoint.post_bulk(self, Bulk::write, cookie(3), 5'000));
    REQUIRE_FALSE(endpoint.post(self, test::message(8), 0));
    self.spend(100_us, Category::software);
    CHECK(wire.locals[0]->poll(self, ends) == 2);
    CHECK(endpoint.outstanding() == 0); // the end of a transfer vouches for the message before it
    CHECK(endpoint.has_room(40));
  });
  wire.engine.run();
  CHECK(ends.over == std::vector<int>{1, 2});
  CHECK(ends.received.empty());
}

TEST_CASE("eager messages above the MTU pay for each packet", "[nic]") {
  for (const auto& [payload, packets] : {std::pair{1'000, 1}, std::pair{1'001, 2}, std::pair{3'500, 4}}) {
    test::Wire wire(bulk_plain);
    Endpoint& endpoint = wire.connect();
    wire.engine.spawn("sender", 0, 0, [&, bytes = payload + bulk_plain.packet_bytes](SimThread& self) {
      REQUIRE(endpoint.post(self, test::message(0), bytes));
    });
    wire.engine.run();
    CHECK(wire.inbound.times[0].time.since_start() ==
          bulk_post + bulk_plain.wqe_fetch + 100_ps * (payload + packets * bulk_plain.packet_bytes) + route.latency);
  }
}
