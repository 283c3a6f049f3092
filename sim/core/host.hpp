// A host: its cores and how far they are from each other.
#pragma once

#include "core/machine_parameters.hpp"

#include <array>
#include <bitset>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace contend {

/// Hardware threads of one host, as a set.
using CoreSet = std::bitset<512>;

/// What a core does with a cache line; the last two change it at once, and the last only if it has an expected value.
enum class LineAccess : std::uint8_t { load, store, atomic, compare };

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
      const int physical = core / topology.threads_per_core;
      const int cluster = topology.cores_per_cluster > 0 ? physical / topology.cores_per_cluster : Position::no_cluster;
      const int neighbourhood = cluster != Position::no_cluster ? cluster : physical;
      positions_.push_back({physical, cluster, neighbourhood, physical / topology.cores_per_socket});
      sockets_[static_cast<std::size_t>(socket(core))].set(static_cast<std::size_t>(core));
      threads_of_cores_.resize(static_cast<std::size_t>(physical) + 1);
      threads_of_cores_.back().set(static_cast<std::size_t>(core));
      if (cluster != Position::no_cluster) {
        clusters_.resize(static_cast<std::size_t>(cluster) + 1);
        clusters_.back().set(static_cast<std::size_t>(core));
      }
    }
    const auto otherwise = [](Duration special, Duration usual) { return special != Duration{} ? special : usual; };
    const Duration compare = otherwise(cache.compare_hit, cache.atomic_hit);
    share_until_lost_ = cache.request_share > 0.0 ? cache.request_share : cache.snoop_share;
    transfers_ = {cache.hit, cache.transfer_smt, cache.transfer_cluster, cache.transfer_socket, cache.transfer_remote};
    hits_ = {cache.hit, cache.hit, cache.atomic_hit, compare};
    arrivals_ = {cache.hit, cache.hit, otherwise(cache.atomic_arrival, cache.atomic_hit),
                 otherwise(cache.atomic_arrival, compare)};
  }

  [[nodiscard]] const TopologyParameters& topology() const { return topology_; }
  [[nodiscard]] const CacheParameters& cache() const { return cache_; }
  [[nodiscard]] const FutexParameters& futex() const { return futex_; }

  [[nodiscard]] int socket(int core) const { return position(core).socket; }
  [[nodiscard]] const CoreSet& cores_of_socket(int socket) const { return sockets_[static_cast<std::size_t>(socket)]; }

  /// Time of an access to a line that the core has.
  [[nodiscard]] Duration hit(LineAccess access) const { return hits_[static_cast<std::size_t>(access)]; }
  /// The same where the line has just come from elsewhere.
  [[nodiscard]] Duration after_arrival(LineAccess access) const { return arrivals_[static_cast<std::size_t>(access)]; }
  /// Whether two hardware threads share a physical core, and with it the first-level cache.
  [[nodiscard]] bool siblings(int a, int b) const {
    return a != b && position(a).physical_core == position(b).physical_core;
  }

  /// Part of a transfer that passes until the line is lost, where nobody else waits for it.
  [[nodiscard]] double share_until_lost() const { return share_until_lost_; }

  /// One-way time for a modified line to get from one core to another.
  [[nodiscard]] Duration transfer(int from, int to) const {
    const Position& source = position(from);
    const Position& target = position(to);
    // Counted, not decided: who asks whom is random, and no processor predicts it.
    const bool apart = source.neighbourhood != target.neighbourhood;
    const int distance = static_cast<int>(from != to) + static_cast<int>(source.physical_core != target.physical_core) +
                         static_cast<int>(apart) + static_cast<int>(apart && source.socket != target.socket);
    return transfers_[static_cast<std::size_t>(distance)];
  }

  /// Time until the copies of `others` (not empty, without `core`) are invalidated for `core`: the farthest answer counts.
  [[nodiscard]] Duration invalidation(int core, const CoreSet& others) const {
    if ((others & ~cores_of_socket(socket(core))).any()) {
      return cache_.transfer_remote;
    }
    const int physical = position(core).physical_core;
    if ((others & ~threads_of_cores_[static_cast<std::size_t>(physical)]).none()) {
      return cache_.transfer_smt;
    }
    const int cluster = position(core).cluster;
    if (cluster != Position::no_cluster && (others & ~clusters_[static_cast<std::size_t>(cluster)]).none()) {
      return cache_.transfer_cluster;
    }
    return cache_.transfer_socket;
  }

private:
  /// Where a hardware thread is.
  struct Position {
    static constexpr int no_cluster = -1;
    int physical_core;
    int cluster;
    int neighbourhood; ///< cluster, or core where there are none
    int socket;
  };
  [[nodiscard]] const Position& position(int core) const { return positions_[static_cast<std::size_t>(core)]; }

  TopologyParameters topology_;
  CacheParameters cache_;
  FutexParameters futex_;
  double share_until_lost_;
  std::array<Duration, 5> transfers_; ///< by distance: none, core, cluster, socket, and farther
  std::array<Duration, 4> hits_;      ///< by LineAccess
  std::array<Duration, 4> arrivals_;  ///< by LineAccess
  std::vector<Position> positions_;   ///< by hardware thread
  std::vector<CoreSet> sockets_;
  std::vector<CoreSet> threads_of_cores_;
  std::vector<CoreSet> clusters_; ///< empty: no such level
};

} // namespace contend
