// Skipping idle polls must not change what a run comes to.
#include "simulation/simulation.hpp"
#include "support/idle_poll_pair.hpp"
#include "support/random_point.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace contend;
using test::equal;
using test::Pair;
using test::require_equal;
using test::run_both;

namespace {

/// Three interfaces, each with queues of its own; messages keep the order of their transport.
void give_interfaces(PointConfig& point, const char* mapping) {
  point.library.instances = {3, "round-robin", "pthread-mutex", mapping};
  point.library.matching.domain = "instance";
  point.library.matching.guard = "instance";
  point.library.matching.ordering = "transport";
  point.library.protocol.pending_order = "fifo";
}

} // namespace

TEST_CASE("idle polls: one instance, several numbers of pairs and locks", "[mpi][idle poll]") {
  for (const std::string& lock : test::patient_locks()) {
    for (const int pairs : {1, 2, 4, 8}) {
      PointConfig point = test::small_point();
      point.library.instances.lock = lock;
      point.library.progress.lock = lock;
      point.library.matching.lock = lock;
      point.workload.multirate.pairs = pairs;
      require_equal(point);
    }
  }
}

TEST_CASE("idle polls: several instances", "[mpi][idle poll]") {
  for (const std::string& lock : test::patient_locks()) {
    for (const char* const assignment : {"round-robin", "dedicated"}) {
      for (const int count : {2, 4}) {
        PointConfig point = test::small_point();
        point.library.instances = {count, assignment, lock};
        point.workload.multirate.pairs = 4;
        require_equal(point);
      }
    }
  }
}

TEST_CASE("idle polls: sends delayed by a short send queue", "[mpi][idle poll][delayed]") {
  for (const char* const order : {"fifo", "reversing"}) {
    for (const int depth : {1, 3, 8}) {
      for (const int pairs : {1, 3}) {
        PointConfig point = test::small_point();
        point.library.protocol.pending_order = order;
        point.machine.nic.send_queue_depth = depth;
        point.workload.multirate.pairs = pairs;
        point.workload.multirate.window = 32;
        const Pair pair = run_both(point);
        CHECK(pair.coalesced.sender.delayed_sends > 0);
        require_equal(point);
      }
    }
  }
}

TEST_CASE("idle polls: sends delayed by flow control", "[mpi][idle poll][delayed]") {
  for (const int window : {4, 16}) {
    for (const int pairs : {1, 3}) {
      PointConfig point = test::small_point();
      point.machine.nic.flow_control_window = window;
      point.workload.multirate.pairs = pairs;
      point.workload.multirate.window = 64;
      require_equal(point);
    }
  }
}

TEST_CASE("idle polls: sends delayed by a full mailbox", "[mpi][idle poll][delayed]") {
  // Slots are told of without a completion, which may be while an attempt takes its lock.
  for (const char* const order : {"fifo", "reversing"}) {
    for (const int slots : {1, 2, 5}) {
      for (const int pairs : {1, 3}) {
        PointConfig point = test::small_point();
        test::add_jitter(point);
        point.machine.cache.atomic_hit = 240'007_ps;
        point.library.protocol.pending_order = order;
        point.library.flow_control.kind = "mailbox";
        point.library.flow_control.mailbox = {slots, slots};
        point.workload.multirate.pairs = pairs;
        point.workload.multirate.window = 64;
        require_equal(point);
      }
    }
  }
}

TEST_CASE("idle polls: room that comes while the global lock is given back", "[mpi][idle poll][delayed]") {
  // The turn has looked for sends that may go before it gives the lock back: the next one finds them.
  for (const char* const order : {"at-connection", "behind-others"}) {
    for (const int slots : {1, 2, 5}) {
      for (int replication = 0; replication < 10; ++replication) {
        PointConfig point = test::small_point();
        test::add_jitter(point);
        point.library.critical_section = "global";
        point.library.protocol.pending_order = order;
        point.library.flow_control.kind = "mailbox";
        point.library.flow_control.mailbox = {slots, slots};
        point.workload.multirate.pairs = 1;
        point.workload.multirate.window = 64;
        require_equal(point, replication, false);
      }
    }
  }
}

TEST_CASE("idle polls: messages written into buffers for eager RDMA", "[mpi][idle poll][eager RDMA]") {
  for (const int batch : {0, 1, 4}) {
    for (const int buffers : {8, 16}) {
      for (const int pairs : {1, 2, 4}) {
        PointConfig point = test::small_point();
        test::add_jitter(point);
        point.library.flow_control.kind = "credits";
        point.library.flow_control.credits.eager_rdma_buffers = buffers;
        point.library.transport.poll_batch = batch;
        point.workload.multirate.pairs = pairs;
        point.workload.multirate.window = 64;
        require_equal(point);
      }
    }
  }
}

TEST_CASE("idle polls: sends through sockets that the peer reads", "[mpi][idle poll][tcp]") {
  // A poll that has reported something makes the next one longer, which is like no other.
  for (const char* const engine : {"ownership", "concurrent"}) {
    for (const int pairs : {1, 3}) {
      for (const int buffer_bytes : {1'500, 200'000}) {
        PointConfig point = test::small_point();
        point.machine.tcp.send_call = 2'003'009_ps;
        point.machine.tcp.arrival_share = 0.75;
        point.machine.tcp.returned_send = 403'001_ps;
        point.machine.tcp.contended_send = 1'503'001_ps;
        point.machine.tcp.acknowledge = 1'209'003_ps;
        point.machine.tcp.acknowledging_send = 107'003_ps;
        point.machine.tcp.poll_event = 277'003_ps;
        point.machine.tcp.receive_packet = 151'007_ps;
        point.machine.tcp.full_send_call = 1'003'009_ps;
        point.machine.tcp.receive_call = 3'003'011_ps;
        point.machine.tcp.poll_call = 403'003_ps;
        point.machine.tcp.copy_bytes_per_second = 10e9;
        point.machine.tcp.buffer_bytes = buffer_bytes;
        point.machine.tcp.packet_bytes = 700;
        point.machine.tcp.receive_bytes = 10'000;
        point.library.transport.kind = "tcp";
        point.library.progress.engine = engine;
        point.library.protocol.pending_order = "fifo";
        point.placement.hosts = 1;
        point.workload.multirate.pairs = pairs;
        point.workload.multirate.mode = "process";
        require_equal(point);
      }
    }
  }
}

TEST_CASE("idle polls: sends delayed by full sockets", "[mpi][idle poll][delayed][tcp]") {
  // Room comes without a completion: when the peer reads, which may be in the middle of an attempt.
  for (const int pairs : {1, 3}) {
    for (const char* const order : {"fifo", "reversing"}) {
      for (const std::int64_t bytes : {0, 8'000}) {
        PointConfig point = test::small_point();
        test::add_jitter(point); // no two threads in step for ever
        point.machine.tcp.send_call = 2'003'009_ps;
        point.machine.tcp.full_send_call = 503'009_ps;
        point.machine.tcp.receive_call = 1'503'011_ps;
        point.machine.tcp.poll_call = 403'003_ps;
        point.machine.tcp.copy_bytes_per_second = 10e9;
        point.machine.tcp.buffer_bytes = 1'500;
        point.machine.tcp.packet_bytes = 700;
        point.machine.tcp.receive_bytes = 1'000;
        point.library.transport.kind = "tcp";
        point.library.critical_section = "global";
        point.library.protocol.pending_order = order;
        point.placement.hosts = 1;
        point.workload.multirate.pairs = pairs;
        point.workload.multirate.message_size_bytes = bytes;
        require_equal(point);
      }
    }
  }
}

TEST_CASE("idle polls: looks without locks before them begin when they are paid", "[mpi][idle poll]") {
  for (int replication = 0; replication < 20; ++replication) {
    PointConfig point = test::small_point();
    test::add_jitter(point);
    point.machine.software.progress_call = 151'003_ps;
    point.machine.tcp.send_call = 1'090'175_ps;
    point.machine.tcp.arrival_share = 0.75;
    point.machine.tcp.contended_send = 1'029'944_ps;
    point.machine.tcp.poll_event = 277'003_ps;
    point.machine.tcp.receive_call = 700'009_ps;
    point.machine.tcp.poll_call = 169'894_ps;
    point.machine.tcp.copy_bytes_per_second = 8e9;
    point.machine.tcp.buffer_bytes = 1'000'000;
    point.machine.tcp.receive_bytes = 32'768;
    point.library.transport.kind = "tcp";
    point.library.thread_level = "single";
    point.library.protocol.eager_limit_bytes = 4'096;
    point.library.protocol.rendezvous = "send";
    point.library.protocol.piece_bytes = 3'072;
    point.placement.hosts = 1;
    point.workload.multirate.mode = "process";
    point.workload.multirate.pattern = "one-to-many";
    point.workload.multirate.senders = 1;
    point.workload.multirate.receivers = 3;
    point.workload.multirate.message_size_bytes = 9'000;
    require_equal(point, replication);
  }
}

TEST_CASE("idle polls: room that comes while a delayed send looks for it", "[mpi][idle poll][delayed]") {
  // The look reads a cache line, which takes a moment: what is there at its end counts.
  for (const char* const section : {"fine", "global"}) {
    for (const bool sockets : {false, true}) {
      for (int replication = 0; replication < 20; ++replication) {
        PointConfig point = test::small_point();
        test::add_jitter(point);
        point.machine.cache.hit = 40'007_ps;
        SharedMemoryParameters& memory = point.machine.shared_memory;
        memory.box_write = 11'003_ps;
        memory.box_read = 13'007_ps;
        memory.queue_write = 41'011_ps;
        memory.queue_read = 37'003_ps;
        memory.poll_queue = 3'001_ps;
        memory.copy_bytes_per_second = 10e9;
        memory.box_size = 4 * 64 + 32;
        memory.box_bytes = 128;
        memory.box_threshold = 3;
        memory.fragments = 2;
        memory.poll_batch = 1;
        TcpParameters& tcp = point.machine.tcp;
        tcp.send_call = 203'009_ps;
        tcp.full_send_call = 53'009_ps;
        tcp.receive_call = 153'011_ps;
        tcp.poll_call = 43'003_ps;
        tcp.copy_bytes_per_second = 10e9;
        tcp.buffer_bytes = 3'000;
        tcp.packet_bytes = 700;
        tcp.receive_bytes = 1'000;
        point.library.transport.kind = sockets ? "tcp" : "shared-memory";
        point.library.transport.full_box = "wait";
        point.library.transport.fragments = "returned";
        point.library.protocol.pending_order = "reversing";
        point.library.protocol.header_bytes = 40;
        point.library.critical_section = section;
        point.placement.hosts = 1;
        point.workload.multirate.pairs = 2;
        point.workload.multirate.window = 40;
        CAPTURE(section, sockets);
        const Pair pair = run_both(point, replication);
        CHECK(pair.coalesced.sender.delayed_sends > 0);
        require_equal(point, replication, section == std::string("fine"));
      }
    }
  }
}

TEST_CASE("idle polls: a thread that draws instances joins one that rests", "[mpi][idle poll]") {
  // The one that rested goes on with the instance that it had drawn, and the other one gets the next.
  for (const int instances : {2, 3}) {
    for (const bool sockets : {false, true}) {
      for (int replication = 0; replication < 10; ++replication) {
        PointConfig point = test::small_point();
        test::add_jitter(point);
        TcpParameters& tcp = point.machine.tcp;
        tcp.send_call = 2'003'009_ps;
        tcp.full_send_call = 503'009_ps;
        tcp.receive_call = 1'503'011_ps;
        tcp.poll_call = 403'003_ps;
        tcp.copy_bytes_per_second = 10e9;
        tcp.buffer_bytes = 200'000;
        tcp.packet_bytes = 700;
        tcp.receive_bytes = 10'000;
        point.library.transport.kind = sockets ? "tcp" : "interface";
        point.library.progress.engine = "concurrent";
        point.library.instances.count = instances;
        point.library.protocol.pending_order = "fifo";
        point.placement.hosts = 1;
        point.workload.multirate.pairs = 4;
        point.workload.multirate.window = 1;
        point.workload.multirate.iterations = 20;
        CAPTURE(sockets);
        require_equal(point, replication);
      }
    }
  }
}

TEST_CASE("idle polls: sends delayed on several instances", "[mpi][idle poll][delayed]") {
  for (const char* const assignment : {"round-robin", "dedicated"}) {
    for (const char* const order : {"fifo", "reversing"}) {
      for (const int pairs : {1, 2, 4}) {
        PointConfig point = test::small_point();
        point.library.instances = {2, assignment, "ttas"};
        point.library.protocol.pending_order = order;
        point.machine.nic.send_queue_depth = 4;
        point.workload.multirate.pairs = pairs;
        point.workload.multirate.window = 32;
        require_equal(point);
      }
    }
  }
}

TEST_CASE("idle polls: other engines and critical sections", "[mpi][idle poll]") {
  for (const char* const engine : {"concurrent", "per-target", "every-nth", "offload-thread"}) {
    for (const int pairs : {1, 2, 5}) {
      for (const int instances : {1, 3}) {
        for (const int depth : {3, 256}) {
          PointConfig point = test::small_point();
          test::add_jitter(point);
          point.library.progress.engine = engine;
          point.library.progress.global_every = 16;
          point.library.instances.count = instances;
          point.machine.nic.send_queue_depth = depth;
          point.workload.multirate.pairs = pairs;
          CAPTURE(engine);
          require_equal(point);
        }
      }
    }
  }
  for (const char* const engine : {"ownership", "per-target", "concurrent"}) {
    for (const char* const section : {"fine", "global"}) {
      for (const int pairs : {1, 2, 5}) {
        PointConfig point = test::small_point();
        test::add_jitter(point);
        point.library.critical_section = section;
        give_interfaces(point, "communicator");
        point.library.progress.engine = engine;
        point.library.progress.global_every = 16;
        point.workload.multirate.communicator_per_pair = true;
        point.workload.multirate.pairs = pairs;
        CAPTURE(engine, section);
        // A thread that rests while it would give the global lock back is charged for that a moment earlier or later.
        require_equal(point, 0, section == std::string("fine"));
      }
    }
  }
  for (const int limit : {2, 4}) {
    PointConfig point = test::small_point();
    test::add_jitter(point);
    point.library.progress.threads_in_progress = limit;
    point.library.instances.count = 2;
    CAPTURE(limit);
    require_equal(point);
  }
}

TEST_CASE("idle polls: a far turn is not taken for one that repeats", "[mpi][idle poll]") {
  // Every turn looks at all there is or at two of three, and far turns come so often that two of them may be the only
  // quiet ones.
  for (int replication = 0; replication < 12; ++replication) {
    PointConfig point = test::small_point();
    test::add_jitter(point);
    give_interfaces(point, "tag");
    point.library.progress.engine = "per-target";
    point.library.progress.global_every = 3;
    point.workload.multirate.pairs = 2;
    point.workload.multirate.window = 4;
    point.workload.multirate.iterations = 60;
    require_equal(point, replication, false);
  }
}

TEST_CASE("idle polls: random designs", "[mpi][idle poll][delayed][property]") {
  int mcs_runs = 0;
  int mcs_different = 0;
  double mcs_sum = 0;
  for (std::uint64_t seed = 2'001; seed <= 2'200; ++seed) {
    PointConfig point = test::random_point(seed);
    point.library.progress.engine = "ownership"; // the others do not skip turns
    if (point.workload.multirate.mode == "process") {
      // Ranks that do the same on cores of their own are at the same place at the same time, and which of them comes first
      // at the interface they share depends on who was put into the event queue first: skipping changes that. Noise
      // makes equal dates rare, as in life.
      test::add_jitter(point);
    }
    CAPTURE(seed, test::describe(point));
    if (point.library.instances.lock != "mcs") {
      require_equal(point);
      continue;
    }
    // A thread that comes while the owner is releasing an MCS lock may be served in another order; see the tests of
    // IdlePoll.
    const Pair pair = run_both(point);
    ++mcs_runs;
    mcs_different += equal(pair) ? 0 : 1;
    mcs_sum += pair.coalesced.workload.elapsed.in_seconds() / pair.turn_by_turn.workload.elapsed.in_seconds() - 1.0;
  }
  CAPTURE(mcs_runs, mcs_different, mcs_sum / mcs_runs);
  CHECK(mcs_different * 4 <= mcs_runs);
  CHECK(std::abs(mcs_sum / mcs_runs) < 0.01);
}

TEST_CASE("idle polls: ranks in lockstep agree on average", "[mpi][idle poll]") {
  double sum = 0;
  double largest = 0;
  int runs = 0;
  for (std::uint64_t seed = 3'001; seed <= 3'060; ++seed) {
    PointConfig point = test::random_point(seed);
    point.library.progress.engine = "ownership";
    point.workload.multirate.mode = "process"; // without noise: many equal dates
    const Pair pair = run_both(point);
    const double deviation =
        pair.coalesced.workload.elapsed.in_seconds() / pair.turn_by_turn.workload.elapsed.in_seconds() - 1.0;
    sum += deviation;
    largest = std::max(largest, std::abs(deviation));
    ++runs;
    CHECK(pair.coalesced.sender.sent == pair.turn_by_turn.sender.sent);
    CHECK(pair.coalesced.receiver.received == pair.turn_by_turn.receiver.received);
  }
  CAPTURE(sum / runs, largest);
  CHECK(std::abs(sum / runs) < 0.002);
  CHECK(largest < 0.05); // one run in which equal dates fell the other way
}

TEST_CASE("idle polls: with jitter, over seeds", "[mpi][idle poll]") {
  int different = 0;
  double sum = 0;
  int runs = 0;
  for (int replication = 0; replication < 20; ++replication) {
    for (const int instances : {1, 3}) {
      PointConfig point = test::small_point();
      test::add_jitter(point);
      point.library.instances.count = instances;
      const Pair pair = run_both(point, replication);
      different += equal(pair) ? 0 : 1;
      sum += pair.coalesced.workload.elapsed.in_seconds() / pair.turn_by_turn.workload.elapsed.in_seconds() - 1.0;
      ++runs;
    }
  }
  CAPTURE(different, runs);
  CHECK(different == 0);
  CHECK(std::abs(sum / runs) < 0.005);
}

TEST_CASE("idle polls: far fewer steps while one waits", "[mpi][idle poll]") {
  PointConfig point = test::small_point();
  point.workload.multirate.pairs = 1;
  point.workload.multirate.window = 1;
  point.route.latency = 100_us;
  const Pair pair = run_both(point);
  CHECK(pair.coalesced.steps * 20 < pair.turn_by_turn.steps);
  CHECK(equal(pair));
}
