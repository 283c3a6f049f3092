// One-sided operations without a network interface: copies in shared memory, and messages that the target carries out.
#include "simulation/simulation.hpp"
#include "support/observe.hpp"
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace contend;
using test::Program;

namespace {

PointConfig memory_point(const std::string& guard = "none") {
  PointConfig point = test::small_point();
  SharedMemoryParameters& memory = point.machine.shared_memory;
  memory.queue_write = 41'003_ps;
  memory.queue_read = 37'007_ps;
  memory.poll_queue = 19'001_ps;
  memory.copy_bytes_per_second = 8e9;
  memory.fragments = 64;
  memory.poll_batch = 8;
  point.library.transport.kind = "shared-memory";
  point.library.one_sided.path = "memory";
  point.library.one_sided.copy_guard = guard;
  point.placement.hosts = 1;
  return point;
}

PointConfig sockets_point() {
  PointConfig point = test::small_point();
  TcpParameters& tcp = point.machine.tcp;
  tcp.send_call = 2'003'009_ps;
  tcp.full_send_call = 1'003'009_ps;
  tcp.receive_call = 1'503'009_ps;
  tcp.poll_call = 403'001_ps;
  tcp.copy_bytes_per_second = 10e9;
  tcp.buffer_bytes = 20'000;
  tcp.packet_bytes = 700;
  tcp.receive_bytes = 4000;
  point.library.transport.kind = "tcp";
  point.library.protocol.rendezvous = "send";
  point.library.one_sided.path = "messages";
  return point;
}

std::vector<PointConfig> all_paths() {
  std::vector<PointConfig> points{memory_point(), memory_point("instance"), sockets_point(), test::small_point()};
  points.back().library.one_sided.path = "messages"; // through the network interface
  for (std::size_t i = 0, before = points.size(); i < before; ++i) {
    points.push_back(points[i]);
    points.back().library.critical_section = "global";
  }
  return points;
}

/// Bytes that have arrived.
class Sum final : public RemoteMemory {
public:
  void written(const RdmaRequest& request) override { bytes += request.bytes; }
  std::int64_t bytes = 0;
};

} // namespace

TEST_CASE("what a flush follows is in the target's memory, by any path", "[mpi][one-sided][paths]") {
  for (const PointConfig& point : all_paths()) {
    CAPTURE(point.library.one_sided.path, point.library.transport.kind, point.library.critical_section,
            point.library.one_sided.copy_guard);
    constexpr int threads = 3;
    constexpr int operations = 12;
    constexpr std::int64_t bytes = 20'001; // several pieces
    Program program(2, point);
    const int window = program.world.create_window(program.communicator);
    Sum sum;
    int done = 0;
    for (int thread = 0; thread < threads; ++thread) {
      program.thread(0, [&](SimThread& self, Process& mpi) {
        Window& w = mpi.window(window);
        for (int i = 0; i < operations; ++i) {
          w.put(self, 1, bytes, &sum, 0);
          w.get(self, 1, 8);
        }
        w.flush(self, 1);
        CHECK(sum.bytes >= operations * bytes);
        if (++done == threads) {
          CHECK(sum.bytes == threads * operations * bytes);
          CHECK(w.outstanding(1) == 0);
          mpi.send(self, program.communicator, 1, 0, 0);
        }
      });
    }
    program.thread(1, [&](SimThread& self, Process& mpi) { mpi.recv(self, program.communicator, 0, 0, 0); });
    program.run();
    CHECK(program.counters(0).one_sided_completed >= 2 * threads * operations);
  }
}

TEST_CASE("locks and updates exclude each other, by any path", "[mpi][one-sided][paths]") {
  for (const PointConfig& point : all_paths()) {
    CAPTURE(point.library.one_sided.path, point.library.transport.kind, point.library.critical_section,
            point.library.one_sided.copy_guard);
    constexpr int origins = 3;
    Program program(origins + 1, point);
    const int window = program.world.create_window(program.communicator);
    int inside = 0;
    for (int rank = 0; rank < origins; ++rank) {
      program.thread(rank, [&](SimThread& self, Process& mpi) {
        Window& w = mpi.window(window);
        for (int i = 0; i < 4; ++i) {
          w.lock(self, origins, WindowLock::exclusive);
          self.settle();
          CHECK(++inside == 1);
          w.put(self, origins, 64);
          w.accumulate(self, origins, 64);
          w.fetch_and_op(self, origins, 8);
          self.spend(3_us, Category::software);
          --inside;
          w.unlock(self, origins);
          CHECK(w.outstanding(origins) == 0);
          w.lock_all(self);
          w.accumulate(self, origins, 8);
          w.unlock_all(self);
        }
        mpi.barrier(self, program.communicator);
      });
    }
    program.thread(origins, [&](SimThread& self, Process& mpi) { mpi.barrier(self, program.communicator); });
    program.run();
    for (int rank = 0; rank < origins; ++rank) {
      CHECK(program.counters(rank).accumulates == 8);
      CHECK(program.counters(rank).fetch_and_ops == 4);
    }
  }
}

TEST_CASE("what is updated under the target's lock takes no lock of an instance", "[mpi][one-sided][paths]") {
  std::vector<Duration> updates;
  std::vector<Duration> puts;
  for (const std::string guard : {"none", "instance"}) {
    Program program(2, memory_point(guard));
    const int window = program.world.create_window(program.communicator);
    program.thread(0, [&](SimThread& self, Process& mpi) {
      Window& w = mpi.window(window);
      const TimePoint start = self.now();
      w.fetch_and_op(self, 1, 8);
      w.accumulate(self, 1, 8);
      self.settle();
      const TimePoint between = self.now();
      w.put(self, 1, 8);
      self.settle();
      updates.push_back(between - start);
      puts.push_back(self.now() - between);
    });
    program.run();
  }
  CHECK(updates[0] == updates[1]);
  CHECK(puts[0] < puts[1]);
}

TEST_CASE("a put by a message waits for the target's progress where it is answered", "[mpi][one-sided][paths]") {
  for (const std::int64_t acknowledge_above : {0, 64}) {
    CAPTURE(acknowledge_above);
    PointConfig point = sockets_point();
    point.library.one_sided.acknowledge_above_bytes = acknowledge_above;
    Program program(2, point);
    const int window = program.world.create_window(program.communicator);
    constexpr Duration busy = 500_us; // of the target, outside the library
    program.thread(0, [&](SimThread& self, Process& mpi) {
      const auto flushed_at = [&](std::int64_t bytes) {
        mpi.window(window).put(self, 1, bytes);
        mpi.window(window).flush(self, 1);
        self.settle();
        return self.now().since_start();
      };
      CHECK((flushed_at(64) < busy) == (acknowledge_above == 64));
      CHECK(flushed_at(65) > busy);
      mpi.send(self, program.communicator, 1, 0, 0);
    });
    program.thread(1, [&](SimThread& self, Process& mpi) {
      self.spend(busy, Category::compute);
      mpi.recv(self, program.communicator, 0, 0, 0);
    });
    program.run();
  }
}

TEST_CASE("answers that find no room go out later", "[mpi][one-sided][paths]") {
  PointConfig point = sockets_point();
  point.machine.tcp.buffer_bytes = 12'000; // one piece of a get's answer
  Program program(2, point);
  const int window = program.world.create_window(program.communicator);
  for (const int rank : {0, 1}) { // both ways at once
    program.thread(rank, [&, rank](SimThread& self, Process& mpi) {
      Window& w = mpi.window(window);
      for (int i = 0; i < 20; ++i) {
        w.get(self, 1 - rank, 8000);
        w.put(self, 1 - rank, 8000);
      }
      w.flush(self, 1 - rank);
      CHECK(w.outstanding(1 - rank) == 0);
      mpi.barrier(self, program.communicator);
    });
  }
  program.run();
}

TEST_CASE("words of locks change once, however small messages are", "[mpi][one-sided][paths]") {
  PointConfig point = sockets_point();
  point.library.protocol.eager_limit_bytes = 4;
  point.library.one_sided.atomics = "lock";
  Program program(2, point);
  const int window = program.world.create_window(program.communicator);
  program.thread(0, [&](SimThread& self, Process& mpi) {
    mpi.window(window).accumulate(self, 1, 64);
    mpi.window(window).accumulate(self, 1, 64);
    mpi.barrier(self, program.communicator);
  });
  program.thread(1, [&](SimThread& self, Process& mpi) { mpi.barrier(self, program.communicator); });
  program.run();
  CHECK(program.counters(0).window_lock_retries == 0);
}

TEST_CASE("updates in shared memory exclude each other, and count", "[mpi][one-sided][paths]") {
  constexpr std::int64_t bytes = 9'700'000; // a millisecond of copying
  for (const char* operation : {"put", "accumulate"}) {
    PointConfig point = memory_point();
    Program program(3, point);
    const int window = program.world.create_window(program.communicator);
    for (const int rank : {0, 1}) {
      program.thread(rank, [&](SimThread& self, Process& mpi) {
        Window& w = mpi.window(window);
        operation == std::string("put") ? w.put(self, 2, bytes) : w.accumulate(self, 2, bytes);
        w.flush(self, 2);
      });
    }
    program.run();
    CHECK((program.engine.now().since_start() > 1900_us) == (operation == std::string("accumulate")));
    CHECK(program.counters(0).one_sided_completed == 1);
  }
}

TEST_CASE("copies in shared memory scale without a guard, and take turns under one", "[mpi][one-sided][paths]") {
  const auto rate = [](const std::string& guard, int threads) {
    PointConfig point = memory_point(guard);
    point.workload.kind = "rma-mt";
    point.workload.rma_mt.threads = threads;
    point.workload.rma_mt.operations = 200;
    point.workload.rma_mt.timing = "first-thread";
    const WorkloadResult result = test::observe(point, 1).result;
    return static_cast<double>(result.operations) / result.elapsed.in_seconds();
  };
  CHECK(rate("none", 4) > 3.6 * rate("none", 1));
  CHECK(rate("instance", 4) < 1.05 * rate("instance", 1));
}

TEST_CASE("RMA-MT by memory and by messages completes what it calls, the same way every time",
          "[mpi][one-sided][paths]") {
  RandomStream random(1, "designs");
  const auto pick = [&](std::vector<std::string> names) { return names[random.below(names.size())]; };
  const std::vector<PointConfig> paths = all_paths();
  for (int round = 0; round < 60; ++round) {
    PointConfig point = paths[random.below(paths.size())];
    point.workload.kind = "rma-mt";
    RmaMtParameters& workload = point.workload.rma_mt;
    workload.operation = pick({"put", "get", "accumulate", "fetch-and-op"});
    workload.synchronisation = pick({"flush", "flush-all", "flush-local", "lock", "lock-all", "fence"});
    workload.synchronised_by = pick({"every-thread", "one-thread"});
    workload.timing = pick({"all", "first-thread"});
    workload.window_per_thread = workload.synchronisation != "fence" && random.below(2) == 0;
    workload.threads = static_cast<int>(1 + random.below(6));
    workload.operations = static_cast<int>(1 + random.below(20));
    workload.iterations = 2;
    workload.message_size_bytes = workload.operation == "fetch-and-op" || random.below(2) == 0 ? 8 : 9000;
    point.library.one_sided.atomics = pick({"hardware", "lock"});
    point.library.one_sided.acknowledge_above_bytes = random.below(2) == 0 ? 0 : 1000;
    if (point.library.one_sided.acknowledge_above_bytes == 0) {
      point.library.instances = {static_cast<int>(1 + random.below(3)), pick({"dedicated", "round-robin"}), "mcs"};
    }
    point.library.progress.engine =
        pick({"ownership", "serial-try-lock", "serial-blocking", "concurrent", "per-target"});
    point.library.protocol.pending_order = pick({"fifo", "reversing"});
    test::add_jitter(point);
    CAPTURE(round, point.library.one_sided.path, point.library.transport.kind, point.library.critical_section,
            workload.operation, workload.synchronisation, workload.threads, workload.timing,
            workload.message_size_bytes, point.library.progress.engine, point.library.protocol.pending_order);
    const auto seed = static_cast<std::uint64_t>(round + 1);
    const test::Observation first = test::observe(point, seed);
    const std::int64_t all = std::int64_t{workload.threads} * workload.operations * workload.iterations;
    CHECK(first.result.operations == all);
    CHECK(first.monotone);
    CHECK(test::observe(point, seed).hash == first.hash);
  }
}
