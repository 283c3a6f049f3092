// When a message arrives: latency, serialization and the gaps of contexts and interfaces.
#include "support/wire.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace contend;
using test::cache;
using test::plain;
using test::route;
using test::serialization;

namespace {

/// CPU time of a post by a thread that has the context's line, and of the first one.
const Duration later_post = cache.hit + plain.post + plain.doorbell;
const Duration first_post = cache.l3_hit + later_post;

/// Sends `count` messages of `bytes` on each of `contexts` contexts, a thread each; returns the arrival times.
std::vector<TimePoint> burst(const NicParameters& parameters, int contexts, int count, std::int64_t bytes) {
  test::Wire wire(parameters);
  for (int i = 0; i < contexts; ++i) {
    Endpoint& endpoint = wire.connect();
    wire.engine.spawn("sender " + std::to_string(i), 0, i, [&, count, bytes](SimThread& self) {
      for (int k = 0; k < count; ++k) {
        REQUIRE(endpoint.post(self, test::message(k), bytes));
      }
    });
  }
  wire.engine.run();
  std::vector<TimePoint> arrivals;
  for (const auto& entry : wire.inbound.times) {
    arrivals.push_back(entry.time);
  }
  REQUIRE(arrivals.size() == static_cast<std::size_t>(contexts * count));
  return arrivals;
}

/// Messages above 64 bytes are fetched, at 20 GB/s.
NicParameters fetching() {
  NicParameters parameters = plain;
  parameters.inline_bytes = 64;
  parameters.payload_fetch = 400'007_ps;
  parameters.bus_bytes_per_second = 20e9;
  return parameters;
}

} // namespace

TEST_CASE("one message takes post, fetch, serialization and latency", "[nic]") {
  for (const std::int64_t bytes : {0, 40, 4096}) {
    const std::vector<TimePoint> arrivals = burst(plain, 1, 1, bytes);
    CHECK(arrivals[0] == TimePoint::at(first_post + plain.wqe_fetch + serialization(bytes) + route.latency));
  }
}

TEST_CASE("the payload of a message above the inline limit is fetched, and passes the bus whole at both ends",
          "[nic][oracle]") {
  const NicParameters parameters = fetching();
  for (const std::int64_t bytes : {0, 64, 65, 1000, 4096, 10'000}) {
    CAPTURE(bytes);
    const Duration bus = 50_ps * std::min<std::int64_t>(bytes, parameters.mtu_bytes);
    const Duration fetch = bytes > 64 ? parameters.payload_fetch + 2 * bus : Duration{};
    const std::vector<TimePoint> arrivals = burst(parameters, 1, 1, bytes);
    CHECK(arrivals[0] == TimePoint::at(first_post + plain.wqe_fetch + fetch + serialization(bytes) + route.latency));
  }
}

TEST_CASE("payloads are fetched side by side: they delay messages, but no rate", "[nic]") {
  NicParameters parameters = fetching();
  parameters.nic_gap = 300_ns;
  const std::vector<TimePoint> arrivals = burst(parameters, 4, 20, 1000);
  for (std::size_t i = 1; i < arrivals.size(); ++i) {
    REQUIRE(arrivals[i] - arrivals[i - 1] == parameters.nic_gap);
  }
}

TEST_CASE("who waits for a fetched payload are messages of the same context's FIFO only", "[nic]") {
  const auto small_behind_large = [](bool same_context, int fifos = 1) {
    NicParameters parameters = fetching();
    parameters.injection_fifos = fifos;
    test::Wire wire(parameters);
    Endpoint& first = wire.connect();
    Endpoint other(*wire.locals[0], *wire.remotes[0], CreditParameters{});
    Endpoint& second = same_context ? other : wire.connect();
    Duration posted{};
    wire.engine.spawn("sender", 0, 0, [&](SimThread& self) {
      REQUIRE(first.post(self, test::message(0), 1000));
      REQUIRE(second.post(self, test::message(1), 0));
      posted = test::clock(self);
    });
    wire.engine.run();
    REQUIRE(wire.inbound.times.size() == 2);
    const Duration unhindered = posted + plain.wqe_fetch + route.latency;
    const auto small = static_cast<std::size_t>(same_context && fifos == 1 ? 1 : 0);
    return wire.inbound.times[small].time.since_start() - unhindered;
  };
  CHECK(small_behind_large(false) == Duration{});
  CHECK(small_behind_large(true, 2) == Duration{});
  const NicParameters parameters = fetching();
  // With the large one, which is fetched, and passes both buses and the wire, since the first of the two posts.
  CHECK(small_behind_large(true) == parameters.payload_fetch + 2 * (50_ps * 1000) + serialization(1000) - later_post);
}

TEST_CASE("posting is charged to nic_post", "[nic]") {
  test::Wire wire(plain);
  Endpoint& endpoint = wire.connect();
  wire.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    CHECK(endpoint.post(self, test::message(0), 40));
    CHECK(test::clock(self) == first_post);
    CHECK(endpoint.post(self, test::message(1), 40));
    CHECK(test::clock(self) == first_post + later_post);
    CHECK(test::spent(self, Category::nic_post) == first_post + later_post);
  });
  wire.engine.run();
}

TEST_CASE("the completion of a send comes back after one more latency", "[nic]") {
  test::Wire wire(plain);
  Endpoint& endpoint = wire.connect();
  wire.engine.spawn("sender", 0, 0, [&](SimThread& self) { CHECK(endpoint.post(self, test::message(0), 40)); });
  wire.engine.run();
  REQUIRE(wire.outbound.times.size() == 1);
  CHECK(wire.outbound.times[0].time == wire.inbound.times[0].time + route.latency);
  CHECK(wire.outbound.times[0].context == wire.locals[0]);
}

TEST_CASE("unpaced messages follow each other at the pace of the CPU", "[nic]") {
  const std::vector<TimePoint> arrivals = burst(plain, 1, 5, 0);
  for (std::size_t i = 1; i < arrivals.size(); ++i) {
    CHECK(arrivals[i] - arrivals[i - 1] == later_post);
  }
}

TEST_CASE("a saturated context sends one message per gap", "[nic]") {
  const struct {
    Duration context_gap;
    Duration nic_gap;
    std::int64_t bytes;
    Duration expected;
  } cases[] = {
      {500_ns, 0_ps, 0, 500_ns},          // the context's pace
      {0_ps, 400_ns, 0, 400_ns},          // the interface's
      {500_ns, 400_ns, 0, 500_ns},        // the slower of them
      {300_ns, 200_ns, 4096, 409'600_ps}, // the wire's
  };
  for (const auto& expectation : cases) {
    NicParameters parameters = plain;
    parameters.context_gap = expectation.context_gap;
    parameters.nic_gap = expectation.nic_gap;
    const std::vector<TimePoint> arrivals = burst(parameters, 1, 20, expectation.bytes);
    CAPTURE(expectation.context_gap.count(), expectation.nic_gap.count(), expectation.bytes);
    for (std::size_t i = 1; i < arrivals.size(); ++i) {
      CHECK(arrivals[i] - arrivals[i - 1] == expectation.expected);
    }
  }
}

TEST_CASE("contexts have their own pace below that of the interface", "[nic]") {
  NicParameters parameters = plain;
  parameters.context_gap = 1_us;
  parameters.nic_gap = 100_ns;
  constexpr int count = 40;
  for (const int contexts : {1, 2, 4, 8}) {
    const std::vector<TimePoint> arrivals = burst(parameters, contexts, count, 0);
    const Duration span = arrivals.back() - arrivals.front();
    // count messages per context, a context gap apart; contexts start within one post and one gap each.
    CAPTURE(contexts);
    CHECK(span >= parameters.context_gap * (count - 1));
    CHECK(span <= parameters.context_gap * (count - 1) + contexts * (parameters.nic_gap + first_post));
  }
}

TEST_CASE("the interface limits the sum of its contexts", "[nic]") {
  NicParameters parameters = plain;
  parameters.context_gap = 150_ns;
  parameters.nic_gap = 100_ns;
  const std::vector<TimePoint> arrivals = burst(parameters, 8, 40, 0);
  for (std::size_t i = 1; i < arrivals.size(); ++i) {
    REQUIRE(arrivals[i] - arrivals[i - 1] >= parameters.nic_gap);
  }
  const Duration span = arrivals.back() - arrivals.front();
  CHECK(span == parameters.nic_gap * static_cast<std::int64_t>(arrivals.size() - 1));
}

TEST_CASE("the receiving interface takes one message per gap from all senders together", "[nic]") {
  NicParameters parameters = plain;
  parameters.nic_gap = 200_ns;
  constexpr int senders = 4;
  constexpr int count = 10;
  test::Wire wire(parameters, route, senders);
  for (int i = 0; i < senders; ++i) {
    Endpoint& endpoint = wire.connect(i);
    wire.engine.spawn("sender " + std::to_string(i), 0, i, [&](SimThread& self) {
      for (int k = 0; k < count; ++k) {
        REQUIRE(endpoint.post(self, test::message(k), 0));
      }
    });
  }
  wire.engine.run();
  REQUIRE(wire.inbound.times.size() == senders * count);
  for (std::size_t i = 1; i < wire.inbound.times.size(); ++i) {
    REQUIRE(wire.inbound.times[i].time - wire.inbound.times[i - 1].time == parameters.nic_gap);
  }
  CHECK(wire.receiver.messages_received() == senders * count);
  for (const auto& interface : wire.interfaces) {
    CHECK(interface->messages_sent() == count);
  }
}

TEST_CASE("a context with a backlog does not hold up the others", "[nic]") {
  NicParameters parameters = plain;
  parameters.context_gap = 10_us;
  parameters.nic_gap = 100_ns;
  test::Wire wire(parameters);
  Endpoint& busy = wire.connect();
  Endpoint& idle = wire.connect();
  TimePoint posted;
  wire.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    for (int k = 0; k < 10; ++k) {
      REQUIRE(busy.post(self, test::message(k), 0));
    }
    REQUIRE(idle.post(self, test::message(0), 0));
    posted = self.now();
  });
  wire.engine.run();
  const auto arrival = std::find_if(wire.inbound.times.begin(), wire.inbound.times.end(),
                                    [&](const auto& entry) { return entry.context == wire.remotes[1]; });
  REQUIRE(arrival != wire.inbound.times.end());
  // At most one message of the other context may be on its way into the wire.
  CHECK(arrival->time <= posted + plain.wqe_fetch + parameters.nic_gap + route.latency + parameters.nic_gap);
}
