#include "mpi/world.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace contend {

int World::add_host(const TopologyParameters& topology, const CacheParameters& cache, const FutexParameters& futex,
                    const NicParameters& nic, const RouteParameters& route) {
  hosts_.push_back(std::make_unique<Host>(topology, cache, futex));
  nics_.push_back(std::make_unique<Nic>(engine_, *hosts_.back(), nic, route, static_cast<int>(nics_.size())));
  if (route.sharing == "flows") {
    if (!flows_) {
      flows_ = std::make_unique<FlowNetwork>(engine_);
    }
    nics_.back()->share_wires(*flows_);
  }
  return static_cast<int>(hosts_.size()) - 1;
}

void World::add_processes(const std::vector<int>& host_of_rank) {
  const int ranks = static_cast<int>(host_of_rank.size());
  share_contexts(host_of_rank);
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
  start_progress_threads(host_of_rank);
}

/// The processes of a host share the contexts of its interface evenly. Instances that find none left are not made: their
/// threads share those that are. All processes have as many instances.
void World::share_contexts(const std::vector<int>& host_of_rank) {
  const auto of = [](int count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  int& instances = settings_.library.instances.count;
  const int wanted = instances;
  for (std::size_t number = 0; number < hosts_.size(); ++number) {
    const auto processes =
        static_cast<int>(std::count(host_of_rank.begin(), host_of_rank.end(), static_cast<int>(number)));
    const int contexts = nics_[number]->parameters().max_contexts;
    if (processes > contexts) {
      throw std::invalid_argument("host " + std::to_string(number) + " has " + std::to_string(processes) +
                                  " processes, but " + of(contexts, "context") + " of its network interface for them");
    }
    if (processes > 0) {
      instances = std::min(instances, contexts / processes);
    }
  }
  if (instances < wanted) {
    notes_.push_back("the network interface has contexts for " + of(instances, "instance") + " per process: the " +
                     std::to_string(wanted) + " that the design asks for share them");
  }
}

/// Progress threads take the last cores of their host; threads of the application begin with the first ones.
void World::start_progress_threads(const std::vector<int>& host_of_rank) {
  std::vector<int> taken(hosts_.size());
  for (int rank = 0; rank < size(); ++rank) {
    if (!process(rank).has_progress_thread()) {
      continue;
    }
    const int number = host_of_rank[static_cast<std::size_t>(rank)];
    const int core = host(number).topology().hardware_threads() - ++taken[static_cast<std::size_t>(number)];
    if (core < 0) {
      throw std::invalid_argument("host " + std::to_string(number) +
                                  " has no core left for the progress thread of rank " + std::to_string(rank));
    }
    process(rank).start_progress_thread(number, core);
  }
  for (std::size_t number = 0; number < hosts_.size(); ++number) {
    const int last = hosts_[number]->topology().hardware_threads() - 1;
    const std::string host_name = " of host " + std::to_string(number);
    if (taken[number] == 1) {
      notes_.push_back("a progress thread has core " + std::to_string(last) + host_name);
    } else if (taken[number] > 1) {
      notes_.push_back("progress threads have cores " + std::to_string(last + 1 - taken[number]) + " to " +
                       std::to_string(last) + host_name);
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

int World::create_window(int communicator) {
  std::vector<Window*> sides;
  sides.reserve(processes_.size());
  for (const auto& process : processes_) {
    sides.push_back(&process->create_window(communicator));
  }
  for (Window* side : sides) {
    side->attach(sides);
  }
  return windows_++;
}

int World::create_partitioned(const PartitionedShape& shape) {
  const PartitionedDesign& design = settings_.library.partitioned;
  partitioned_.push_back(partitioned_registry().at(design.engine)({*this, shape, design}));
  return static_cast<int>(partitioned_.size()) - 1;
}

} // namespace contend
