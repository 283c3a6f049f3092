// Multirate's patterns and modes over every protocol: what is sent arrives, once, and everybody gets to the end.
#include "simulation/simulation.hpp"
#include "support/expected.hpp"
#include "support/observe.hpp"
#include "support/program.hpp"
#include "support/random_exchange.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <string>

using namespace contend;

TEST_CASE("threads take each other's handshakes where these travel on one communicator", "[mpi][patterns]") {
  // Pairs that do not meet drift apart. With words of their own no sender starts before its own receiver is ready, so that
  // nothing arrives unexpected; with common words some do.
  for (const std::string handshake : {"pair", "world"}) {
    CAPTURE(handshake);
    PointConfig point = test::small_point();
    point.machine.noise = Duration::microseconds(5); // calls take unequally long
    point.library.progress.engine = "concurrent";
    MultirateParameters& workload = point.workload.multirate;
    workload.pairs = 6;
    workload.iterations = 300;
    workload.communicator_per_pair = true;
    workload.barrier_every_iteration = false;
    workload.handshake = handshake;
    const test::Observation run = test::observe(point, 1);
    const std::int64_t words = 2 * std::int64_t{workload.pairs} * (workload.iterations + workload.warmup_iterations);
    CHECK(run.counters.back().received == words / 2 * workload.window);
    CHECK((run.counters.back().unexpected > 0) == (handshake == "world"));
  }
}

TEST_CASE("every pattern in every mode sends what the benchmark sends", "[mpi][patterns]") {
  for (const std::string pattern : {"pairwise", "one-to-many", "many-to-one", "many-to-many"}) {
    for (const std::string mode : {"thread", "process", "process-to-thread", "thread-to-process"}) {
      for (const bool own_communicators : {false, true}) {
        CAPTURE(pattern, mode, own_communicators);
        PointConfig point = test::small_point();
        MultirateParameters& workload = point.workload.multirate;
        workload.pattern = pattern;
        workload.mode = mode;
        workload.communicator_per_pair = own_communicators;
        workload.pairs = pattern == "pairwise" ? 3 : 1;
        workload.senders = pattern == "many-to-one" || pattern == "many-to-many" ? 3 : 1;
        workload.receivers = pattern == "one-to-many" || pattern == "many-to-many" ? 4 : 1;
        const test::Expected want = test::expected(workload);
        const test::Observation run = test::observe(point, 1);
        CHECK(run.counters.size() == static_cast<std::size_t>(want.sending_ranks + want.receiving_ranks));
        const test::Totals all(run);
        CHECK(all.sent == want.data + want.handshakes);
        CHECK(all.received == all.sent);
        CHECK(run.result.operations == want.data / 4 * 3); // 3 of 4 iterations are timed
        CHECK(run.result.threads[0] == (pattern == "pairwise" ? 3 : workload.senders));
        CHECK(run.result.threads[1] == (pattern == "pairwise" ? 3 : workload.receivers));
        // Data is never unexpected: receives are posted before anybody may send.
        const bool window_first = run.counters.back().unexpected <= want.handshakes;
        CHECK(window_first);
      }
    }
  }
}

TEST_CASE("steps without room do not keep polls from a fair lock", "[mpi][rendezvous]") {
  // Two threads whose reads find no room: were they to queue for the instance's lock again and again to see that, a poll
  // that only tries it would never get it, and nothing would make room.
  PointConfig point = test::small_point();
  point.machine.nic.send_queue_depth = 4;
  point.machine.nic.send_completion_batch = 4;
  point.library.protocol.rendezvous = "get";
  point.library.progress.engine = "concurrent";
  point.library.instances.lock = "ticket-blocking";
  MultirateParameters& workload = point.workload.multirate;
  workload.pattern = "many-to-many";
  workload.mode = "process-to-thread";
  workload.senders = 3;
  workload.receivers = 2;
  workload.window = 10;
  workload.message_size_bytes = 70'000;
  workload.communicator_per_pair = true;
  const test::Observation run = test::observe(point, 1, 2'000'000);
  std::int64_t received = 0;
  for (const SpcCounters& rank : run.counters) {
    received += rank.received;
  }
  CHECK(received == test::expected(workload).data + test::expected(workload).handshakes);
}

TEST_CASE("senders that lock their connection do not overfill its queue", "[mpi][delayed]") {
  // One thread tries its delayed sends again while others send through the same connection: were it to hold the instance's
  // lock only, two would take the last place, and nobody would ask for the report that makes room.
  for (const std::string order : {"fifo", "reversing"}) {
    for (const int depth : {1, 2}) {
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        CAPTURE(order, depth, seed);
        PointConfig point = test::small_point();
        test::add_jitter(point);
        point.machine.nic.send_queue_depth = depth;
        point.machine.nic.send_completion_batch = 16;
        point.library.transport.send_lock = "connection";
        point.library.progress.engine = "concurrent";
        point.library.protocol.pending_order = order;
        const test::Observation run = test::observe(point, seed, 5'000'000);
        CHECK(run.counters.front().delayed_sends > 0);
        CHECK(run.counters.front().sent + run.counters.back().sent ==
              test::expected(point.workload.multirate).data + test::expected(point.workload.multirate).handshakes);
      }
    }
  }
}

TEST_CASE("random exchanges: everything sent is matched and completed, and nothing is left", "[mpi][property]") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const PointConfig point = test::random_exchange(seed);
    CAPTURE(seed, test::describe_exchange(point));
    const test::Expected want = test::expected(point.workload.multirate);
    const test::Observation run = test::observe(point, seed, 40'000'000);
    REQUIRE(run.monotone);
    // Without barriers the accounts start afresh after the one before the timed part.
    REQUIRE((run.accounts_add_up || !point.workload.multirate.barrier_every_iteration));
    const test::Totals all(run);
    REQUIRE(all.left_in_queues == 0);
    REQUIRE(all.sent == want.data + want.handshakes);
    REQUIRE(all.posted == all.sent);
    REQUIRE(all.received == all.sent);
    REQUIRE(run.result.operations == want.data);
    if (point.workload.multirate.message_size_bytes > 0) { // never faster than the wire
      const double seconds = static_cast<double>(want.data) *
                             static_cast<double>(point.workload.multirate.message_size_bytes) /
                             point.route.bytes_per_second;
      REQUIRE(run.result.elapsed.in_seconds() > seconds);
    }
  }
}

TEST_CASE("random exchanges: the same seed takes the same steps", "[mpi][property]") {
  for (std::uint64_t seed = 1'001; seed <= 1'030; ++seed) {
    const PointConfig point = test::random_exchange(seed);
    CAPTURE(seed, test::describe_exchange(point));
    const test::Observation first = test::observe(point, 5, 40'000'000);
    const test::Observation second = test::observe(point, 5, 40'000'000);
    REQUIRE(first.hash == second.hash);
    REQUIRE(first.result.times == second.result.times);
  }
}

TEST_CASE("random exchanges: skipping idle polls changes nothing", "[mpi][property]") {
  for (std::uint64_t seed = 2'001; seed <= 2'060; ++seed) {
    PointConfig point = test::random_exchange(seed);
    point.library.progress.engine = "ownership"; // the others take every turn anyway
    if (point.library.instances.lock == "mcs") {
      point.library.instances.lock = "ticket"; // the gap of an MCS release is not exact, see the tests of idle polls
    }
    if (point.workload.multirate.mode != "thread") {
      test::add_jitter(point); // ranks in lockstep meet at equal dates, and skipping turns changes who comes first
    }
    CAPTURE(seed, test::describe_exchange(point));
    point.run.coalesce_idle_polls = false;
    const PointResult turn_by_turn = simulate(point, {});
    point.run.coalesce_idle_polls = true;
    const PointResult coalesced = simulate(point, {});
    CHECK(turn_by_turn.workload.elapsed.count() == coalesced.workload.elapsed.count());
    CHECK(turn_by_turn.workload.times == coalesced.workload.times);
  }
}

TEST_CASE("pairs that do not meet in every iteration keep the wire busy", "[mpi][patterns]") {
  const auto rate = [](bool barrier) {
    PointConfig point = test::small_point();
    point.workload.multirate.mode = "process";
    point.workload.multirate.pairs = 8;
    point.workload.multirate.window = 64;
    point.workload.multirate.iterations = 10;
    point.workload.multirate.message_size_bytes = 4096;
    point.workload.multirate.barrier_every_iteration = barrier;
    const PointResult result = simulate(point, {});
    return static_cast<double>(result.workload.operations) / result.workload.elapsed.in_seconds();
  };
  const double wire = 12.5e9 / (4096 + 40);
  CHECK(rate(false) > 0.95 * wire);
  CHECK(rate(false) <= wire * 1.001);
  CHECK(rate(true) < 0.95 * rate(false));
}

TEST_CASE("few credits: the rate falls as the window grows, and more credits mend it", "[mpi][credits]") {
  const auto rate = [](int buffers, int window) {
    PointConfig point = test::small_point();
    point.workload.multirate.pairs = 1;
    point.workload.multirate.window = window;
    // Sending and receiving take about as long: what the sender's loop leaves to the end does not overlap with it.
    point.machine.software.send_call = 500_ns;
    point.machine.software.deliver = 500_ns;
    point.machine.nic.send_completion_batch = 16;
    point.library.flow_control.kind = "credits";
    point.library.flow_control.credits = {buffers, buffers * 3 / 4, buffers / 2, 4}; // the defaults of btl/openib
    point.library.protocol.pending_order = "at-connection";
    const PointResult result = simulate(point, {});
    return static_cast<double>(result.workload.operations) / result.workload.elapsed.in_seconds();
  };
  CHECK(rate(32, 128) < 0.95 * rate(32, 32));
  CHECK(rate(32, 512) < rate(32, 128));
  CHECK(rate(512, 512) > 1.2 * rate(32, 512));
  CHECK(rate(512, 512) > rate(512, 32)); // with enough of them a larger window is better
}

TEST_CASE("the credits that a credit message is for travel with it, whoever sends meanwhile", "[mpi][credits]") {
  // A reserve of two lets one such message go until the peer has said that it has seen it, which takes a credit.
  PointConfig point = test::small_point();
  point.library.transport.send_lock = "connection";
  point.library.protocol.pending_order = "behind-others";
  point.library.flow_control.kind = "credits";
  point.library.flow_control.credits = {.buffers = 8, .low_watermark = 4, .window = 2, .reserve = 2};
  point.machine.noise = 200_ns;
  point.machine.nic.doorbell = 2_us; // while it lasts another thread's message may leave
  constexpr int pairs = 2;
  constexpr int windows = 20;
  constexpr int window = 30;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    CAPTURE(seed);
    test::Program program(2, point, seed);
    for (int pair = 0; pair < pairs; ++pair) {
      for (const int rank : {0, 1}) {
        program.thread(rank, [&, rank, pair](SimThread& self, Process& mpi) {
          for (int k = 0; k < windows; ++k) {
            std::vector<Request*> requests;
            for (int i = 0; i < window; ++i) {
              requests.push_back(rank == 0 ? mpi.isend(self, program.communicator, 1, pair, 8)
                                           : mpi.irecv(self, program.communicator, 0, pair, 8));
            }
            mpi.waitall(self, requests);
            rank == 0 ? mpi.recv(self, program.communicator, 1, pair, 0)
                      : mpi.send(self, program.communicator, 0, pair, 0);
          }
        });
      }
    }
    program.run();
    CHECK(program.counters(1).received == pairs * windows * window);
  }
}

TEST_CASE("messages that are written into buffers overtake those of the receive queue", "[mpi][credits]") {
  const auto out_of_sequence = [](int written, int window) {
    PointConfig point = test::small_point();
    point.workload.multirate.pairs = 1;
    point.workload.multirate.window = window;
    point.library.flow_control.kind = "credits";
    point.library.flow_control.credits = {32, 24, 16, 4, false, written, written / 4};
    point.machine.software.deliver = 500_ns; // the queue is longer than the buffers are
    point.library.protocol.pending_order = "at-connection";
    return simulate(point, {}).receiver.out_of_sequence; // one pair: its own order is all that can get lost
  };
  CHECK(out_of_sequence(0, 128) == 0);
  CHECK(out_of_sequence(8, 8) == 0); // all of them find room in the buffers
  CHECK(out_of_sequence(8, 128) > 0);
}

TEST_CASE("a library that empties the queue in a turn needs fewer turns", "[mpi][poll]") {
  const auto rate = [](int poll_batch) {
    PointConfig point = test::small_point();
    point.workload.multirate.pairs = 1;
    point.machine.nic.poll_batch = 1;
    point.machine.software.progress_call = 1_us;
    point.library.transport.poll_batch = poll_batch;
    const PointResult result = simulate(point, {});
    return static_cast<double>(result.workload.operations) / result.workload.elapsed.in_seconds();
  };
  CHECK(rate(0) == rate(1)); // the machine's
  CHECK(rate(64) > 1.5 * rate(1));
}
