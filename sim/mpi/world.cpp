#include "mpi/world.hpp"

namespace contend {

int World::add_host(const TopologyParameters& topology, const CacheParameters& cache, const FutexParameters& futex,
                    const NicParameters& nic, const RouteParameters& route) {
  hosts_.push_back(std::make_unique<Host>(topology, cache, futex));
  nics_.push_back(std::make_unique<Nic>(engine_, *hosts_.back(), nic, route, static_cast<int>(nics_.size())));
  return static_cast<int>(hosts_.size()) - 1;
}

void World::add_processes(const std::vector<int>& host_of_rank) {
  const int ranks = static_cast<int>(host_of_rank.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const auto host = static_cast<std::size_t>(host_of_rank[static_cast<std::size_t>(rank)]);
    processes_.push_back(std::make_unique<Process>(engine_, *hosts_[host], *nics_[host], settings_, rank, ranks));
  }
  for (const auto& from : processes_) {
    for (const auto& to : processes_) {
      if (from != to) {
        from->connect(*to);
      }
    }
  }
}

int World::create_communicator(bool allow_overtaking) {
  int number = 0;
  for (const auto& process : processes_) {
    number = process->create_communicator(allow_overtaking);
  }
  return number;
}

} // namespace contend
