// Threads that wait do the library's work: packing and matching as tasks.
#include "simulation/simulation.hpp"
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace contend;
using test::Program;

namespace {

PointConfig pack_point(std::int64_t bytes, int helpers, bool steal) {
  PointConfig point = test::small_point();
  point.workload.kind = "pack";
  point.workload.pack.message_size_bytes = bytes;
  point.workload.pack.block_bytes = 64;
  point.workload.pack.helpers = helpers;
  point.workload.pack.iterations = 4;
  point.library.waiting.idle = steal ? "steal" : "sleep";
  point.library.tasks.pack_piece_bytes = 65536;
  return point;
}

Duration pack_time(const PointConfig& point) {
  return Duration::picoseconds(simulate(point, {}).workload.elapsed.count() / point.workload.pack.iterations);
}

} // namespace

TEST_CASE("a pack alone costs its bytes and its blocks", "[mpi][tasks]") {
  for (const std::int64_t bytes : {64, 4096, 1'000'000}) {
    const PointConfig point = pack_point(bytes, 0, false);
    const Duration copy = Duration::seconds(static_cast<double>(bytes) / point.machine.software.copy_bytes_per_second) +
                          point.machine.datatype.block * ((bytes + 63) / 64);
    CHECK(pack_time(point) == copy + point.machine.software.send_request);
  }
}

TEST_CASE("threads that sleep do not help, threads that steal do", "[mpi][tasks]") {
  constexpr std::int64_t bytes = 2'000'000; // fits into the shared cache twice
  const Duration alone = pack_time(pack_point(bytes, 0, false));
  CHECK(pack_time(pack_point(bytes, 5, false)) == alone);
  Duration before = alone;
  for (const int helpers : {1, 2, 4}) {
    CAPTURE(helpers);
    const Duration time = pack_time(pack_point(bytes, helpers, true));
    CHECK(time < before);
    CHECK(time * (helpers + 1) > alone); // no faster than all of them
    before = time;
  }
}

TEST_CASE("no more than one piece, no task", "[mpi][tasks]") {
  for (const std::int64_t bytes : {1'000, 65'536}) {
    CHECK(pack_time(pack_point(bytes, 4, true)) == pack_time(pack_point(bytes, 0, false)));
  }
}

TEST_CASE("beyond the caches helpers share the bandwidth of their socket", "[mpi][tasks]") {
  PointConfig point = pack_point(20'000'000, 7, true); // with the packer, the 8 cores of one socket
  const double bandwidth = point.machine.datatype.memory_bytes_per_second;
  const Duration at_best = Duration::seconds(2.0 * 20'000'000 / bandwidth);
  CHECK(pack_time(point) > at_best);
  const Duration limited = pack_time(point);
  point.machine.datatype.memory_bytes_per_second = 1e15;
  CHECK(pack_time(point) < limited);
}

TEST_CASE("matching as a task: every message is matched, and order is kept", "[mpi][tasks]") {
  for (const std::string engine : {"ownership", "concurrent"}) {
    for (const int pairs : {1, 2, 6}) {
      CAPTURE(engine, pairs);
      PointConfig point = test::small_point();
      test::add_jitter(point);
      point.library.progress.engine = engine;
      point.library.progress.threads_in_progress = 1;
      point.library.waiting.idle = "steal";
      point.library.tasks.matching = true;
      point.workload.multirate.pairs = pairs;
      const PointResult result = simulate(point, {}); // throws if a message is lost
      CHECK(result.receiver.received == pairs * 16 * 4);
      CHECK(result.receiver.oos_in_queue == 0);
    }
  }
}

TEST_CASE("matching as a task: threads that wait take messages from the one that polls", "[mpi][tasks]") {
  PointConfig point = test::small_point();
  point.library.waiting.idle = "steal";
  point.library.tasks.matching = true;
  Program program(2, point);
  const int comm = program.communicator;
  program.thread(0, [&](SimThread& self, Process& mpi) {
    self.spend(20_us, Category::software);
    for (int tag = 0; tag < 32; ++tag) {
      mpi.send(self, comm, 1, tag, 0);
    }
  });
  for (int thread = 0; thread < 4; ++thread) {
    program.thread(1, [&, thread](SimThread& self, Process& mpi) {
      for (int i = 0; i < 8; ++i) {
        mpi.recv(self, comm, 0, 4 * i + thread, 0);
      }
    });
  }
  program.run();
  CHECK(program.counters(1).received == 32);
  CHECK(program.world.process(1).stolen_tasks() > 0);
}

TEST_CASE("matching as a task: rendezvous and messages to oneself", "[mpi][tasks]") {
  for (const std::string protocol : {"get", "put", "send"}) {
    CAPTURE(protocol);
    PointConfig point = test::small_point();
    point.library.waiting.idle = "steal";
    point.library.tasks.matching = true;
    point.library.protocol.rendezvous = protocol;
    Program program(2, point);
    const int comm = program.communicator;
    for (int thread = 0; thread < 3; ++thread) {
      program.thread(0, [&, thread](SimThread& self, Process& mpi) {
        mpi.send(self, comm, 0, thread, 10);
        mpi.recv(self, comm, 0, thread, 10);
        mpi.send(self, comm, 1, thread, 100'000);
      });
      program.thread(1, [&, thread](SimThread& self, Process& mpi) { mpi.recv(self, comm, 0, thread, 100'000); });
    }
    program.run();
    CHECK(program.counters(0).received == 3);
    CHECK(program.counters(1).received == 3);
  }
}
