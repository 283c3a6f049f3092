// One-sided operations of an interface: how long they take, what limits them, and that none is lost.
#include "models/nic/rdma.hpp"
#include "support/wire.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

using namespace contend;
using test::cache;
using test::plain;
using test::route;
using test::serialization;
using Kind = RdmaRequest::Kind;

namespace {

RdmaParameters plain_rdma() {
  RdmaParameters rdma;
  rdma.store_limit_bytes = 1024;
  rdma.store_post = 70'001_ps;
  rdma.store_bytes_per_second = 5e9; // 200 ps per byte
  rdma.store_start = 90'007_ps;
  rdma.offload_post = 110'017_ps;
  rdma.offload_start = 500'009_ps;
  rdma.offload_gap = 0_ps;
  rdma.read_response = 300'007_ps;
  rdma.atomic_response = 200'003_ps;
  rdma.atomic_gap = 0_ps;
  rdma.atomic_limit_bytes = 8;
  rdma.header_bytes = 40;
  rdma.read_depth = 1 << 20;
  rdma.completion_batch = 1;
  rdma.completion = 25'013_ps;
  return rdma;
}

RdmaRequest request(Kind kind, std::int64_t bytes) {
  RdmaRequest result;
  result.kind = kind;
  result.bytes = bytes;
  return result;
}

/// Counts completions.
class Counter final : public RdmaListener {
public:
  void completed(SimThread& /*self*/, const RdmaRequest& done) override {
    ++count;
    kinds.push_back(done.kind);
  }
  int count = 0;
  std::vector<Kind> kinds;
};

/// A wire whose contexts have one-sided endpoints.
class OneSided {
public:
  explicit OneSided(const RdmaParameters& rdma, int contexts = 1, const NicParameters& nic = plain)
      : wire(nic), inbox() {
    for (int i = 0; i < contexts; ++i) {
      wire.connect();
      endpoints.push_back(std::make_unique<RdmaEndpoint>(*wire.locals.back(), *wire.remotes.back(), rdma));
    }
  }
  /// A thread of its own core that works on one context.
  void thread(int context, const std::function<void(SimThread&, RdmaEndpoint&)>& body) {
    RdmaEndpoint& endpoint = *endpoints[static_cast<std::size_t>(context)];
    wire.engine.spawn("origin " + std::to_string(context), 0, context,
                      [body, &endpoint](SimThread& self) { body(self, endpoint); });
  }
  void poll(SimThread& self, int context = 0) { wire.locals[static_cast<std::size_t>(context)]->poll(self, inbox); }
  /// When the last completion was reported.
  [[nodiscard]] TimePoint last_report() const { return wire.outbound.times.back().time; }

  test::Wire wire;
  test::Inbox inbox;
  std::vector<std::unique_ptr<RdmaEndpoint>> endpoints;
};

/// From the start of the run to the report of one operation.
Duration time_of(const RdmaRequest& operation, const RdmaParameters& rdma = plain_rdma(),
                 const NicParameters& nic = plain) {
  OneSided system(rdma, 1, nic);
  system.thread(0, [&](SimThread& self, RdmaEndpoint& endpoint) { REQUIRE(endpoint.post(self, operation)); });
  system.wire.engine.run();
  REQUIRE(system.wire.outbound.times.size() == 1);
  CHECK(system.wire.inbound.times.empty()); // the target's processor has no part in it
  return system.last_report().since_start();
}

} // namespace

TEST_CASE("a put takes its post, the way there and the acknowledgement", "[rdma]") {
  const RdmaParameters rdma = plain_rdma();
  for (const std::int64_t bytes : {1, 8, 1024}) {
    CAPTURE(bytes);
    CHECK(time_of(request(Kind::put, bytes)) == 2 * (cache.l3_hit + cache.hit) + rdma.store_post + 200_ps * bytes +
                                                    rdma.store_start + serialization(40 + bytes) + route.latency * 2);
  }
  for (const std::int64_t bytes : {1025, 65536}) {
    CAPTURE(bytes);
    CHECK(time_of(request(Kind::put, bytes)) == 2 * (cache.l3_hit + cache.hit) + rdma.offload_post +
                                                    rdma.offload_start + serialization(40 + bytes) + route.latency * 2);
  }
}

TEST_CASE("data that an interface moves by itself passes the buses of both ends", "[rdma][oracle]") {
  NicParameters nic = plain;
  nic.bus_bytes_per_second = 20e9; // 50 ps per byte
  nic.payload_fetch = 400_ns;      // of two-sided messages
  const RdmaParameters rdma = plain_rdma();
  const auto added = [&](Kind kind, std::int64_t bytes) {
    return time_of(request(kind, bytes), rdma, nic) - time_of(request(kind, bytes), rdma);
  };
  CHECK(added(Kind::put, 1024) == Duration{}); // the processor stores them into the interface
  CHECK(added(Kind::put, 2000) == 100_ps * 2000);
  CHECK(added(Kind::put, 65536) == 100_ps * 4096); // a packet at either end; the others' time is the wire's
  CHECK(added(Kind::get, 2000) == 100_ps * 2000);
  CHECK(added(Kind::get, 65536) == 100_ps * 4096);
}

TEST_CASE("lines of a context and of its descriptors move one after the other", "[rdma]") {
  // The core's first post fetches them, its second finds them, and another core's takes them from it.
  const auto posts = [](int post_lines, int descriptor_lines) {
    RdmaParameters rdma = plain_rdma();
    rdma.post_lines = post_lines;
    rdma.descriptor_lines = descriptor_lines;
    OneSided system(rdma);
    std::vector<Duration> took;
    const auto post = [&](SimThread& self, RdmaEndpoint& endpoint) {
      const TimePoint called = self.now();
      REQUIRE(endpoint.post(self, request(Kind::put, 0)));
      self.settle();
      took.push_back(self.now() - called);
      self.spend(20_us, Category::software);
      system.poll(self);
      REQUIRE(endpoint.outstanding() == 0);
    };
    system.thread(0, [&](SimThread& self, RdmaEndpoint& endpoint) {
      post(self, endpoint);
      post(self, endpoint);
    });
    system.wire.engine.spawn("other", 0, 2, [&](SimThread& self) {
      self.spend(100_us, Category::software);
      post(self, *system.endpoints[0]);
    });
    system.wire.engine.run();
    return took;
  };
  const std::vector<Duration> single = posts(1, 1);
  const std::vector<Duration> several = posts(4, 6);
  const Duration work = plain_rdma().store_post;
  CHECK(single[0] == work + 2 * (cache.l3_hit + cache.hit));
  CHECK(several[0] == work + 10 * (cache.l3_hit + cache.hit));
  CHECK(single[1] == work + 2 * cache.hit);
  CHECK(several[1] == work + 10 * cache.hit);
  CHECK(single[2] == work + 2 * (cache.transfer_socket + cache.hit));
  CHECK(several[2] == work + 10 * (cache.transfer_socket + cache.hit));
}

TEST_CASE("a get takes the request, the read at the target and the data's way back", "[rdma]") {
  const RdmaParameters rdma = plain_rdma();
  CHECK(time_of(request(Kind::get, 512)) == 2 * (cache.l3_hit + cache.hit) + rdma.store_post + rdma.store_start +
                                                serialization(40) + route.latency + rdma.read_response +
                                                serialization(40 + 512) + route.latency);
  CHECK(time_of(request(Kind::get, 8192)) == 2 * (cache.l3_hit + cache.hit) + rdma.offload_post + rdma.offload_start +
                                                 serialization(40) + route.latency + rdma.read_response +
                                                 serialization(40 + 8192) + route.latency);
}

TEST_CASE("an atomic changes its word at the target and brings the old value back", "[rdma]") {
  const RdmaParameters rdma = plain_rdma();
  std::int64_t word = 5;
  std::int64_t old = -1;
  OneSided system(rdma);
  system.thread(0, [&](SimThread& self, RdmaEndpoint& endpoint) {
    const auto carry_out = [&](RdmaRequest atomic) {
      atomic.word = &word;
      atomic.result = &old;
      REQUIRE(endpoint.post(self, atomic));
      while (endpoint.outstanding() > 0) {
        system.poll(self);
      }
    };
    RdmaRequest add = request(Kind::fetch_add, 8);
    add.operand = 3;
    carry_out(add);
    CHECK(old == 5);
    CHECK(word == 8);
    RdmaRequest swap = request(Kind::compare_swap, 8);
    swap.expected = 7;
    swap.operand = 100;
    carry_out(swap);
    CHECK(old == 8);
    CHECK(word == 8);
    swap.expected = 8;
    carry_out(swap);
    CHECK(old == 8);
    CHECK(word == 100);
  });
  system.wire.engine.run();
  CHECK(time_of(request(Kind::fetch_add, 8)) == 2 * (cache.l3_hit + cache.hit) + rdma.store_post + rdma.store_start +
                                                    serialization(40 + 16) + route.latency + rdma.atomic_response +
                                                    serialization(40 + 8) + route.latency);
}

TEST_CASE("gaps are ceilings", "[rdma]") {
  constexpr int contexts = 4;
  constexpr int each = 50;
  const auto burst = [](const RdmaParameters& rdma, const NicParameters& nic, Kind kind, std::int64_t bytes) {
    OneSided system(rdma, contexts, nic);
    for (int i = 0; i < contexts; ++i) {
      system.thread(i, [&](SimThread& self, RdmaEndpoint& endpoint) {
        for (int k = 0; k < each; ++k) {
          REQUIRE(endpoint.post(self, request(kind, bytes)));
        }
      });
    }
    system.wire.engine.run();
    REQUIRE(system.wire.outbound.times.size() == std::size_t{contexts} * each);
    return system.last_report() - system.wire.outbound.times.front().time;
  };
  constexpr int gaps = contexts * each - 1;
  SECTION("of the interface") {
    NicParameters nic = plain;
    nic.nic_gap = 200'003_ps;
    CHECK(burst(plain_rdma(), nic, Kind::put, 8) == nic.nic_gap * gaps);
  }
  SECTION("of a context") {
    NicParameters nic = plain;
    nic.context_gap = 800'011_ps;
    const Duration time = burst(plain_rdma(), nic, Kind::put, 8);
    CHECK(time >= nic.context_gap * (each - 1));
    CHECK(time < nic.context_gap * each); // contexts go side by side
  }
  SECTION("of the wire") { CHECK(burst(plain_rdma(), plain, Kind::put, 4096) == serialization(40 + 4096) * gaps); }
  SECTION("of the wire back") { CHECK(burst(plain_rdma(), plain, Kind::get, 4096) == serialization(40 + 4096) * gaps); }
  SECTION("of atomics at the target") {
    RdmaParameters rdma = plain_rdma();
    rdma.atomic_gap = 150'001_ps;
    CHECK(burst(rdma, plain, Kind::fetch_add, 8) == rdma.atomic_gap * gaps);
  }
  SECTION("of descriptors of a context, after their data") {
    RdmaParameters rdma = plain_rdma();
    rdma.offload_gap = 5'000'011_ps;
    const Duration time = burst(rdma, plain, Kind::put, 4096);
    CHECK(time >= (serialization(40 + 4096) + rdma.offload_gap) * (each - 1));
    CHECK(time < (serialization(40 + 4096) + rdma.offload_gap) * each);
  }
}

TEST_CASE("a full queue and too many reads refuse an operation", "[rdma]") {
  RdmaParameters rdma = plain_rdma();
  rdma.read_depth = 2;
  NicParameters nic = plain;
  nic.send_queue_depth = 4;
  OneSided system(rdma, 1, nic);
  system.thread(0, [&](SimThread& self, RdmaEndpoint& endpoint) {
    CHECK(endpoint.post(self, request(Kind::get, 8)));
    CHECK(endpoint.post(self, request(Kind::fetch_add, 8)));
    CHECK_FALSE(endpoint.post(self, request(Kind::get, 8))); // two reads are outstanding
    CHECK(endpoint.post(self, request(Kind::put, 8)));
    CHECK(endpoint.post(self, request(Kind::put, 8)));
    CHECK_FALSE(endpoint.post(self, request(Kind::put, 8))); // the queue is full
    CHECK(endpoint.outstanding() == 4);
    CHECK(endpoint.buffers_in_use() == 2); // the puts have been stored
    while (endpoint.outstanding() > 0) {
      system.poll(self);
    }
    CHECK(endpoint.post(self, request(Kind::get, 8)));
  });
  system.wire.engine.run();
}

TEST_CASE("moderated completions are reported when somebody asks", "[rdma]") {
  RdmaParameters rdma = plain_rdma();
  rdma.completion_batch = 4;
  OneSided system(rdma);
  Counter counter;
  system.thread(0, [&](SimThread& self, RdmaEndpoint& endpoint) {
    RdmaRequest put = request(Kind::put, 8);
    put.listener = &counter;
    for (int i = 0; i < 6; ++i) {
      REQUIRE(endpoint.post(self, put));
    }
    self.spend(20_us, Category::software);
    system.poll(self);
    CHECK(counter.count == 4);
    CHECK(endpoint.outstanding() == 2);
    REQUIRE(endpoint.request_report(self));
    self.spend(20_us, Category::software);
    system.poll(self);
    CHECK(counter.count == 6); // the empty request is nobody's
    CHECK(endpoint.outstanding() == 0);
    REQUIRE(endpoint.request_report(self)); // nothing to ask for
    CHECK(endpoint.outstanding() == 0);
  });
  system.wire.engine.run();
}

TEST_CASE("operations complete in the order of posting, each once", "[rdma]") {
  RandomStream random(1, "operations");
  for (int round = 0; round < 50; ++round) {
    CAPTURE(round);
    RdmaParameters rdma = plain_rdma();
    rdma.completion_batch = static_cast<int>(1 + random.below(8));
    rdma.read_depth = static_cast<int>(1 + random.below(8));
    NicParameters nic = plain;
    nic.send_queue_depth = static_cast<int>(2 + random.below(20));
    nic.poll_batch = static_cast<int>(1 + random.below(4));
    std::vector<RdmaRequest> operations;
    std::vector<Kind> kinds;
    for (int i = 0; i < 60; ++i) {
      const auto kind = static_cast<Kind>(random.below(4));
      kinds.push_back(kind);
      operations.push_back(request(kind, kind == Kind::put || kind == Kind::get
                                             ? static_cast<std::int64_t>(1 + random.below(4000))
                                             : std::int64_t{8}));
    }
    OneSided system(rdma, 1, nic);
    Counter counter;
    system.thread(0, [&](SimThread& self, RdmaEndpoint& endpoint) {
      for (RdmaRequest& operation : operations) {
        operation.listener = &counter;
        while (!endpoint.post(self, operation)) {
          system.poll(self);
        }
      }
      while (!endpoint.request_report(self)) {
        system.poll(self);
      }
      while (endpoint.outstanding() > 0) {
        system.poll(self);
      }
      CHECK(endpoint.buffers_in_use() == 0);
    });
    system.wire.engine.run();
    CHECK(counter.kinds == kinds);
  }
}
