#include "workloads/neighbour.hpp"

#include <algorithm>
#include <string>

namespace contend {

std::vector<int> Neighbour::host_of_rank() const {
  std::vector<int> hosts(static_cast<std::size_t>(parameters_.root_processes), root_host);
  for (int pair = 0; pair < pairs(); ++pair) {
    hosts.push_back(root_host + 1 + pair);
  }
  return hosts;
}

std::uint64_t Neighbour::planned_operations() const {
  return 2 * static_cast<std::uint64_t>(pairs()) * static_cast<std::uint64_t>(parameters_.window) *
         static_cast<std::uint64_t>(all_iterations());
}

void Neighbour::start(World& world) {
  communicator_ = world.create_communicator(false);
  for (int root = 0; root < parameters_.root_processes; ++root) {
    for (int thread = 0; thread < parameters_.threads; ++thread) {
      const int pair = root * parameters_.threads + thread;
      const int peer = parameters_.root_processes + pair;
      // Threads that take messages of any source need tags, or they would take each other's.
      const int tag = parameters_.any_source ? thread : 0;
      spawn(world, Role::sender, root, {peer, tag});
      spawn(world, Role::receiver, peer, {root, tag});
    }
  }
}

void Neighbour::spawn(World& world, Role role, int rank, Partner partner) {
  Process& process = world.process(rank);
  SimThread& thread =
      world.spawn(rank, (role == Role::sender ? "root " : "neighbour ") + std::to_string(threads_.size() / 2),
                  [this, &process, role, partner](SimThread& self) { run(self, process, role, partner); });
  threads_.emplace_back(role, &thread);
}

/// The timed part begins when the root's last thread enters it, and ends when its last thread leaves.
void Neighbour::run(SimThread& self, Process& process, Role role, Partner partner) {
  std::vector<Request*> requests;
  requests.reserve(2 * static_cast<std::size_t>(parameters_.window));
  for (int iteration = 0; iteration < all_iterations(); ++iteration) {
    if (iteration == parameters_.warmup_iterations) {
      self.reset_times();
      timed_start_ = role == Role::sender ? std::max(timed_start_, self.now()) : timed_start_;
    }
    if (parameters_.interface == "mpi") {
      exchange_messages(self, process, role, partner, requests);
    } else {
      exchange_active(self, process, partner.rank, iteration);
    }
  }
  self.settle();
  if (role == Role::sender) {
    ++finished_;
    timed_end_ = std::max(timed_end_, self.now());
  }
}

/// All messages are data, so that wildcards cannot take anything else.
void Neighbour::exchange_messages(SimThread& self, Process& process, Role role, Partner partner,
                                  std::vector<Request*>& requests) const {
  requests.clear();
  const int source = parameters_.any_source && role == Role::sender ? any_source : partner.rank;
  const int tag = parameters_.any_tag && role == Role::sender ? any_tag : partner.tag;
  for (int i = 0; i < parameters_.window; ++i) {
    requests.push_back(process.irecv(self, communicator_, source, tag, parameters_.message_size_bytes));
  }
  for (int i = 0; i < parameters_.window; ++i) {
    requests.push_back(process.isend(self, communicator_, partner.rank, partner.tag, parameters_.message_size_bytes));
  }
  process.waitall(self, requests);
}

void Neighbour::exchange_active(SimThread& self, Process& process, int partner, int iteration) const {
  for (int i = 0; i < parameters_.window; ++i) {
    process.send_active(self, partner, parameters_.message_size_bytes);
  }
  process.wait_active(self, partner, std::int64_t{iteration + 1} * parameters_.window);
}

WorkloadResult Neighbour::result(const World& world) const {
  if (parameters_.interface == "mpi") {
    const std::int64_t all = std::int64_t{pairs()} * parameters_.window * all_iterations();
    std::int64_t received = 0;
    for (int rank = 0; rank < parameters_.root_processes; ++rank) {
      received += world.process(rank).counters().received;
    }
    if (received != all) {
      throw InvariantViolation("the root received " + std::to_string(received) + " of " + std::to_string(all) +
                               " messages");
    }
  }
  if (finished_ != pairs()) {
    throw InvariantViolation(std::to_string(finished_) + " of " + std::to_string(pairs()) + " threads have finished");
  }
  WorkloadResult result;
  result.operations = std::int64_t{pairs()} * parameters_.window * parameters_.iterations;
  result.bytes = result.operations * parameters_.message_size_bytes;
  result.elapsed = timed_end_ - timed_start_;
  for (const auto& [role, thread] : threads_) {
    result.add(role, *thread);
  }
  return result;
}

} // namespace contend
