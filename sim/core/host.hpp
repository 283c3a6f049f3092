// A host: its cores and how far they are from each other.
#pragma once

#include "core/machine_parameters.hpp"

#include <bitset>
#include <stdexcept>
#include <string>
#include <vector>

namespace contend {

/// Hardware threads of one host, as a set.
using CoreSet = std::bitset<512>;

/// One host of the machine. Cores (hardware threads) are numbered socket by socket, see TopologyParameters.
class Host {
public:
  /// Throws std::invalid_argument for a topology with no cores or more than CoreSet can hold.
  Host(const TopologyParameters& topology, const CacheParameters& cache, const FutexParameters& futex)
      : topology_(topology), cache_(cache), futex_(futex),
        sockets_(static_cast<std::size_t>(topology.sockets < 0 ? 0 : topology.sockets)) {
    if (topology.hardware_threads() < 1 || static_cast<std::size_t>(topology.hardware_threads()) > CoreSet().size()) {
      throw std::invalid_argument("a host must have between 1 and " + std::to_string(CoreSet().size()) +
                                  " hardware threads");
    }
    for (int core = 0; core < topology.hardware_threads(); ++core) {
      physical_core_.push_back(core / topology.threads_per_core);
      socket_.push_back(core / (topology.cores_per_socket * topology.threads_per_core));
      sockets_[static_cast<std::size_t>(socket(core))].set(static_cast<std::size_t>(core));
      if (topology.cores_per_cluster > 0) {
        cluster_.push_back(core / (topology.cores_per_cluster * topology.threads_per_core));
        clusters_.resize(static_cast<std::size_t>(cluster_.back()) + 1);
        clusters_.back().set(static_cast<std::size_t>(core));
      }
    }
  }

  [[nodiscard]] const TopologyParameters& topology() const { return topology_; }
  [[nodiscard]] const CacheParameters& cache() const { return cache_; }
  [[nodiscard]] const FutexParameters& futex() const { return futex_; }

  [[nodiscard]] int socket(int core) const { return socket_[static_cast<std::size_t>(core)]; }
  [[nodiscard]] const CoreSet& cores_of_socket(int socket) const { return sockets_[static_cast<std::size_t>(socket)]; }

  /// One-way time for a modified line to get from one core to another.
  [[nodiscard]] Duration transfer(int from, int to) const {
    if (from == to) {
      return cache_.hit;
    }
    if (physical_core_[static_cast<std::size_t>(from)] == physical_core_[static_cast<std::size_t>(to)]) {
      return cache_.transfer_smt;
    }
    if (!cluster_.empty() && cluster_[static_cast<std::size_t>(from)] == cluster_[static_cast<std::size_t>(to)]) {
      return cache_.transfer_cluster;
    }
    return socket(from) == socket(to) ? cache_.transfer_socket : cache_.transfer_remote;
  }

  /// Time until the copies of `others` (not empty, without `core`) are invalidated for `core`: the farthest answer counts.
  [[nodiscard]] Duration invalidation(int core, const CoreSet& others) const {
    if ((others & ~cores_of_socket(socket(core))).any()) {
      return cache_.transfer_remote;
    }
    if (!cluster_.empty() &&
        (others & ~clusters_[static_cast<std::size_t>(cluster_[static_cast<std::size_t>(core)])]).none()) {
      return cache_.transfer_cluster;
    }
    return cache_.transfer_socket;
  }

private:
  TopologyParameters topology_;
  CacheParameters cache_;
  FutexParameters futex_;
  std::vector<CoreSet> sockets_;
  std::vector<int> physical_core_; ///< by hardware thread
  std::vector<int> socket_;        ///< by hardware thread
  std::vector<CoreSet> clusters_;  ///< empty: no such level
  std::vector<int> cluster_;       ///< by hardware thread
};

} // namespace contend
