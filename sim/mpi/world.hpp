// All MPI processes of a run, and the hosts and interfaces they share.
#pragma once

#include "core/engine.hpp"
#include "core/host.hpp"
#include "core/scheduler.hpp"
#include "models/fabric/flow_network.hpp"
#include "models/nic/transport.hpp"
#include "mpi/partitioned.hpp"
#include "mpi/placement.hpp"
#include "mpi/process.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// Where the ranks live: hosts of the same kind, each with one transport, all pairs connected by the same route.
class World {
public:
  World(Engine& engine, ProcessSettings settings, PlacementParameters placement = {})
      : engine_(engine), settings_(std::move(settings)), placement_(std::move(placement)) {
    settings_.software = software_of(settings_.library.code, settings_.software);
  }

  /// Adds a host and returns its number.
  /// `scheduler` matters only where the placement lets threads share cores.
  int add_host(const TopologyParameters& topology, const CacheParameters& cache, const FutexParameters& futex,
               const NicParameters& nic, const RouteParameters& route, const SchedulerParameters& scheduler = {},
               const TcpParameters& tcp = {}, const SharedMemoryParameters& shared_memory = {});
  /// Adds ranks 0, 1, ...: rank r lives on host host_of_rank[r], or on the first if the placement has only one. Connects
  /// all of them. Call once, after all add_host.
  void add_processes(const std::vector<int>& host_of_rank);
  /// Adds a thread of the application to a rank. The placement says where it runs: those of a host that have a core each
  /// take core 0, 1, ... in the order of these calls. Where they share cores and the machine says what creating a thread takes,
  /// the first one of a rank creates the others, in this order, before it does anything else. Throws std::invalid_argument
  /// where a thread would need a core for itself and none is left, or a progress thread has it; so do the next ones with `core`.
  SimThread& spawn(int rank, std::string name, SimThread::Body body);
  /// Adds a thread of the library that has little to do. It runs beside `self`, a thread of that rank: on its core, or,
  /// where threads share cores, as one like others.
  void spawn_beside(SimThread& self, int rank, std::string name, SimThread::Body body);
  /// The same, on this core where threads have a core each; one that has other threads must not be named.
  SimThread& spawn_on(int rank, int core, std::string name, SimThread::Body body);
  /// A thread for which the run does not wait, on this core where threads have a core each.
  SimThread& spawn_daemon_on(int rank, int core, std::string name, SimThread::Body body);
  /// A communicator of all ranks.
  int create_communicator(bool allow_overtaking);
  /// A window of all ranks of a communicator.
  int create_window(int communicator);
  /// A partitioned operation between two ranks, by the library's design. Returns its number.
  int create_partitioned(const PartitionedShape& shape);
  [[nodiscard]] PartitionedOperation& partitioned(int number) {
    return *partitioned_[static_cast<std::size_t>(number)];
  }

  [[nodiscard]] Engine& engine() const { return engine_; }
  [[nodiscard]] const ProcessSettings& settings() const { return settings_; }
  [[nodiscard]] Process& process(int rank) { return *processes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const Process& process(int rank) const { return *processes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] int size() const { return static_cast<int>(processes_.size()); }
  /// What a user should know about how the design was carried out, a sentence each: instances that share contexts, cores
  /// of progress threads.
  [[nodiscard]] std::vector<std::string> notes() const;
  [[nodiscard]] int hosts() const { return static_cast<int>(hosts_.size()); }
  [[nodiscard]] const Host& host(int number) const { return *hosts_[static_cast<std::size_t>(number)]; }
  /// Hardware threads of a host that may be used, the first ones.
  [[nodiscard]] int usable_cores(int number) const;

  /// The scheduler of a host; nullptr: its threads have a core each.
  [[nodiscard]] const Scheduler* scheduler(int number) const {
    return schedulers_[static_cast<std::size_t>(number)].get();
  }

private:
  void share_contexts();
  void share_barriers();
  void start_progress_threads();
  void check_core(int number, int core, const std::string& thread) const;
  SimThread& spawn_shared(int rank, std::string name, SimThread::Body body, bool daemon);
  SimThread& add_to_team(int rank, Scheduler& scheduler, std::string name, SimThread::Body body);
  void begin_team(SimThread& first, int rank, Scheduler& scheduler);
  [[nodiscard]] Scheduler::Placement placement_of_next(int rank, bool daemon);

  Engine& engine_;
  ProcessSettings settings_;
  PlacementParameters placement_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<std::unique_ptr<Scheduler>> schedulers_; ///< by host
  std::vector<int> threads_on_host_;                   ///< of the application, or all where they share cores
  std::vector<int> cores_of_progress_;                 ///< by host: so many of the last ones have a progress thread
  std::vector<int> host_of_rank_;
  /// By rank: its threads that have been added, where the first one creates the others.
  std::vector<std::vector<SimThread*>> teams_;
  std::unique_ptr<FlowNetwork> flows_;                 ///< if wires are shared so
  std::vector<std::unique_ptr<Transport>> transports_; ///< by host
  std::unique_ptr<SharedMemoryBarriers> barriers_;     ///< if the library has them, and all processes share a host
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::unique_ptr<PartitionedOperation>> partitioned_;
  std::vector<std::string> notes_;
  int windows_ = 0;
};

} // namespace contend
