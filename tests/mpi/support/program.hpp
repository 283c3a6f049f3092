// Hand-written programs: a few ranks, each on its own host or all on one, and threads that call the library.
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
    const bool one_host = point.library.transport.kind == "shared-memory";
    for (int rank = 0; rank < ranks; ++rank) {
      hosts_.push_back(one_host && rank > 0 ? 0
                                            : world.add_host(point.machine.topology, point.machine.cache,
                                                             point.machine.futex, point.machine.nic, point.route, {},
                                                             point.machine.tcp, point.machine.shared_memory));
    }
    next_core_.resize(hosts_.size());
    world.add_processes(hosts_);
    communicator = world.create_communicator(point.workload.multirate.allow_overtaking);
    engine.set_step_limit(5'000'000);
  }
  ~Program() { engine.abandon(); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// A thread of `rank`, on the next core of its host.
  SimThread& thread(int rank, Body body) {
    const int host = hosts_[static_cast<std::size_t>(rank)];
    const int core = next_core_[static_cast<std::size_t>(host)]++;
    Process& process = world.process(rank);
    return engine.spawn("rank " + std::to_string(rank) + " thread " + std::to_string(core), host, core,
                        [&process, body = std::move(body)](SimThread& self) { body(self, process); });
  }
  void run() { engine.run(); }

  [[nodiscard]] const SpcCounters& counters(int rank) const { return world.process(rank).counters(); }

  Engine engine;
  World world;
  int communicator = 0;

private:
  std::vector<int> hosts_;     ///< by rank
  std::vector<int> next_core_; ///< by host
};

} // namespace contend::test
