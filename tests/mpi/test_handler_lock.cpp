// What a poll has found is handled without the lock that it was found under: several threads at once, and nothing is lost.
#include "simulation/simulation.hpp"
#include "support/expected.hpp"
#include "support/observe.hpp"
#include "support/random_exchange.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>

using namespace contend;

namespace {

/// As over btl/openib: senders lock their connection, handlers nothing.
PointConfig unlocked_point() {
  PointConfig point = test::small_point();
  test::add_jitter(point);
  point.library.instances.count = 1;
  point.library.progress.engine = "concurrent";
  point.library.transport.handler_lock = "none";
  point.library.transport.send_lock = "connection";
  return point;
}

/// All of a window of each pair, on several threads; returns what was sent.
std::int64_t check_exchange(const PointConfig& point, std::uint64_t seed) {
  const test::Expected want = test::expected(point.workload.multirate);
  const test::Observation run = test::observe(point, seed, 40'000'000);
  const test::Totals all(run);
  REQUIRE(all.left_in_queues == 0);
  REQUIRE(all.sent == want.data + want.handshakes);
  REQUIRE(all.received == all.sent);
  return run.counters.front().delayed_sends;
}

} // namespace

TEST_CASE("threads that poll one instance handle messages side by side where handling takes no lock",
          "[mpi][handler]") {
  // Each of four receivers waits for messages of its own communicator, and handling one is what takes long.
  const auto rate = [](const std::string& handler_lock) {
    PointConfig point = unlocked_point();
    point.library.transport.handler_lock = handler_lock;
    point.machine.software.deliver = 2_us;
    point.machine.nic.poll_batch = 1;
    point.workload.multirate.pairs = 4;
    point.workload.multirate.window = 32;
    point.workload.multirate.iterations = 5;
    point.workload.multirate.communicator_per_pair = true;
    const PointResult result = simulate(point, {});
    return static_cast<double>(result.workload.operations) / result.workload.elapsed.in_seconds();
  };
  CHECK(rate("none") > 2 * rate("instance"));
  CHECK(rate("instance") <= 1 / 2e-6);
}

TEST_CASE("several handlers lose no credit, slot or grant", "[mpi][handler][credits]") {
  for (const std::string engine : {"concurrent", "request-lock", "serial-try-lock"}) {
    for (const std::string kind : {"credits", "mailbox", "grants"}) {
      for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        CAPTURE(engine, kind, seed);
        PointConfig point = unlocked_point();
        point.library.progress.engine = engine;
        point.workload.multirate.pairs = 4;
        point.workload.multirate.window = 40;
        point.machine.nic.payload_fetch = 500_ns;
        point.machine.nic.bus_bytes_per_second = 5e9;
        point.machine.nic.inline_bytes = 50;
        point.workload.multirate.message_size_bytes = seed % 2 == 0 ? 0 : 300;
        point.library.protocol.pending_order = seed % 3 == 0 ? "at-connection" : "behind-others";
        point.library.flow_control.kind = kind;
        CreditParameters& credits = point.library.flow_control.credits;
        credits = {.buffers = 8, .low_watermark = 6, .window = 4, .reserve = 4};
        credits.eager_rdma_buffers = seed % 2 == 0 ? 3 : 0;
        credits.eager_rdma_window = 1;
        point.library.flow_control.mailbox = {.slots = 6, .returned_at_once = 2};
        point.machine.nic.flow_control_window = kind == "grants" ? 8 : 0;
        CHECK(check_exchange(point, seed) > 0); // some have to wait
      }
    }
  }
}

TEST_CASE("random exchanges whose messages are handled without a lock are complete", "[mpi][handler][property]") {
  int drawn = 0;
  for (std::uint64_t seed = 5'001; seed <= 5'300; ++seed) {
    PointConfig point = test::random_exchange(seed);
    if (point.library.transport.handler_lock != "none") {
      continue;
    }
    point.library.transport.send_lock = "connection";
    CAPTURE(seed, test::describe_exchange(point));
    check_exchange(point, seed);
    ++drawn;
  }
  CHECK(drawn > 50);
}

TEST_CASE("room that an unlocked handler makes is seen by threads that skip turns", "[mpi][handler][idle poll]") {
  for (const std::string engine : {"ownership", "concurrent", "request-lock"}) {
    for (const std::string order : {"fifo", "reversing", "at-connection"}) {
      for (const int depth : {1, 3, 8}) {
        for (const int batch : {1, 64}) {
          PointConfig point = unlocked_point();
          point.library.progress.engine = engine;
          point.library.protocol.pending_order = order;
          point.machine.nic.send_queue_depth = depth;
          point.machine.nic.poll_batch = batch;
          point.workload.multirate.pairs = 3;
          point.workload.multirate.window = 32;
          CAPTURE(engine, order, depth, batch);
          point.run.coalesce_idle_polls = false;
          const PointResult turn_by_turn = simulate(point, {});
          point.run.coalesce_idle_polls = true;
          const PointResult coalesced = simulate(point, {});
          CHECK(coalesced.sender.delayed_sends > 0);
          CHECK(turn_by_turn.workload.elapsed.count() == coalesced.workload.elapsed.count());
          CHECK(turn_by_turn.workload.times == coalesced.workload.times);
        }
      }
    }
  }
}
