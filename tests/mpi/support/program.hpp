// Hand-written programs: a few ranks, each on its own host, and threads that call the library.
#pragma once

#include "mpi/world.hpp"
#include "point.hpp"

#include <functional>
#include <string>
#include <vector>

namespace contend::test {

class Program {
public:
  using Body = std::function<void(SimThread&, Process&)>;

  explicit Program(int ranks, const PointConfig& point = small_point(), std::uint64_t seed = 1)
      : engine(seed), world(engine, {point.library, point.machine.software, point.machine.locks, point.machine.matching,
                                     point.machine.rdma, point.machine.noise, point.run.coalesce_idle_polls,
                                     point.machine.waiting, point.machine.datatype}) {
    std::vector<int> hosts;
    for (int rank = 0; rank < ranks; ++rank) {
      hosts.push_back(world.add_host(point.machine.topology, point.machine.cache, point.machine.futex,
                                     point.machine.nic, point.route, {}, point.machine.tcp));
    }
    world.add_processes(hosts);
    communicator = world.create_communicator(point.workload.multirate.allow_overtaking);
    engine.set_step_limit(5'000'000);
  }
  ~Program() { engine.abandon(); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// A thread of `rank`, on the next core of its host.
  SimThread& thread(int rank, Body body) {
    next_core_.resize(static_cast<std::size_t>(world.size()), 0);
    const int core = next_core_[static_cast<std::size_t>(rank)]++;
    Process& process = world.process(rank);
    return engine.spawn("rank " + std::to_string(rank) + " thread " + std::to_string(core), rank, core,
                        [&process, body = std::move(body)](SimThread& self) { body(self, process); });
  }
  void run() { engine.run(); }

  [[nodiscard]] const SpcCounters& counters(int rank) const { return world.process(rank).counters(); }

  Engine engine;
  World world;
  int communicator = 0;

private:
  std::vector<int> next_core_;
};

} // namespace contend::test
