// All MPI processes of a run, and the hosts and interfaces they share.
#pragma once

#include "core/engine.hpp"
#include "core/host.hpp"
#include "models/nic/nic.hpp"
#include "mpi/process.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// Where the ranks live: hosts of the same kind, each with one interface, all pairs connected by the same route.
class World {
public:
  World(Engine& engine, ProcessSettings settings) : engine_(engine), settings_(std::move(settings)) {
    settings_.software = software_of(settings_.library.code, settings_.software);
  }

  /// Adds a host and returns its number.
  int add_host(const TopologyParameters& topology, const CacheParameters& cache, const FutexParameters& futex,
               const NicParameters& nic, const RouteParameters& route);
  /// Adds ranks 0, 1, ...: rank r lives on host host_of_rank[r]. Connects all of them. Call once, after all add_host.
  void add_processes(const std::vector<int>& host_of_rank);
  /// A communicator of all ranks.
  int create_communicator(bool allow_overtaking);
  /// A window of all ranks of a communicator.
  int create_window(int communicator);

  [[nodiscard]] Engine& engine() const { return engine_; }
  [[nodiscard]] Process& process(int rank) { return *processes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const Process& process(int rank) const { return *processes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] int size() const { return static_cast<int>(processes_.size()); }
  /// What a user should know about how the design was carried out, a sentence each: instances that share contexts, cores
  /// of progress threads.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  [[nodiscard]] const Host& host(int number) const { return *hosts_[static_cast<std::size_t>(number)]; }

private:
  void share_contexts(const std::vector<int>& host_of_rank);
  void start_progress_threads(const std::vector<int>& host_of_rank);

  Engine& engine_;
  ProcessSettings settings_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<std::unique_ptr<Nic>> nics_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::string> notes_;
  int windows_ = 0;
};

} // namespace contend
