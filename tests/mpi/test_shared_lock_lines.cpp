// Locks of instances that lie side by side: holders of one take the lines of its neighbours away.
#include "models/locks/pthread_mutex.hpp"
#include "simulation/simulation.hpp"
#include "support/idle_poll_pair.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <memory>
#include <string>
#include <vector>

using namespace contend;

namespace {

/// Each pair of threads on an instance of its own.
PointConfig instances_of_pairs(int pairs, bool share_lines) {
  PointConfig point = test::small_point();
  point.library.instances = {4, "round-robin", "pthread-mutex", "communicator"};
  point.library.instances.locks_share_lines = share_lines;
  point.library.matching.domain = "instance";
  point.library.matching.guard = "instance";
  point.library.matching.ordering = "transport";
  point.library.protocol.pending_order = "at-interface";
  point.library.progress.engine = "per-target";
  point.library.progress.global_every = 1'000'000;
  point.workload.multirate.communicator_per_pair = true;
  point.workload.multirate.pairs = pairs;
  return point;
}

Duration elapsed(const PointConfig& point) { return simulate(point, {}).workload.elapsed; }

} // namespace

TEST_CASE("a lock's lines are gone after its neighbour was taken, not after another one", "[locks][shared lines]") {
  // Two threads take a lock each, in turns; theirs are so many places apart.
  const int apart = GENERATE(1, 2);
  Engine engine(1);
  const MachineConfig machine = test::small_machine();
  const Host host(TopologyParameters{1, 8, 1}, machine.cache, machine.futex);
  std::vector<std::unique_ptr<CacheLine>> lines;
  std::vector<std::unique_ptr<PthreadMutex>> locks;
  for (int i = 0; i < 5; ++i) {
    lines.push_back(std::make_unique<CacheLine>(engine, host, "line " + std::to_string(i)));
  }
  for (std::size_t i = 0; i < 4; ++i) {
    locks.push_back(std::make_unique<PthreadMutex>(engine, host, machine.locks, "lock " + std::to_string(i)));
    locks.back()->lies_between(*lines[i], *lines[i + 1]);
  }
  std::array<std::uint64_t, 2> transfers{};
  for (const int thread : {0, 1}) {
    engine.spawn("t" + std::to_string(thread), 0, thread, [&, thread](SimThread& self) {
      PthreadMutex& mine = *locks[static_cast<std::size_t>(1 + thread * apart)];
      for (int round = 0; round < 10; ++round) {
        self.spend(TimePoint::at(round * 20_us + thread * 10_us) - self.now(), Category::software);
        const std::uint64_t before = self.line_transfers();
        mine.lock(self);
        mine.unlock(self);
        self.settle();
        transfers[static_cast<std::size_t>(thread)] = self.line_transfers() - before; // of the last round
      }
    });
  }
  engine.run();
  const std::uint64_t expected = apart == 1 ? 1 : 0;
  CHECK(transfers[0] == expected);
  CHECK(transfers[1] == expected);
}

TEST_CASE("instances whose locks lie side by side slow each other down", "[mpi][shared lines]") {
  CHECK(elapsed(instances_of_pairs(4, true)) > elapsed(instances_of_pairs(4, false)).scaled(1.1));
  PointConfig one = instances_of_pairs(1, true);
  one.library.instances.count = 1;
  PointConfig same = one;
  same.library.instances.locks_share_lines = false;
  CHECK(elapsed(one) == elapsed(same)); // there is no neighbour
}

TEST_CASE("idle polls of locks that share lines are simulated one by one", "[mpi][shared lines][idle poll]") {
  for (const int pairs : {1, 2, 4}) {
    PointConfig point = instances_of_pairs(pairs, true);
    test::add_jitter(point);
    test::require_equal(point);
  }
}
