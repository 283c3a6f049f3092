#include "workloads/multirate.hpp"

#include <algorithm>
#include <functional>
#include <string>

namespace contend {

std::vector<int> MultiratePairwise::host_of_rank() const {
  if (threads()) {
    return {sending_host, receiving_host};
  }
  std::vector<int> hosts(static_cast<std::size_t>(parameters_.pairs), sending_host);
  hosts.resize(2 * static_cast<std::size_t>(parameters_.pairs), receiving_host);
  return hosts;
}

Role MultiratePairwise::role_of_rank(int rank) const {
  return rank < (threads() ? 1 : parameters_.pairs) ? Role::sender : Role::receiver;
}

void MultiratePairwise::start(World& world) {
  world_communicator_ = world.create_communicator(parameters_.allow_overtaking);
  std::vector<int> communicators(static_cast<std::size_t>(parameters_.pairs), world_communicator_);
  if (parameters_.communicator_per_pair) {
    for (int& communicator : communicators) {
      communicator = world.create_communicator(parameters_.allow_overtaking);
    }
  }
  const int threads_per_rank = threads() ? parameters_.pairs : 1;
  for (int rank = 0; rank < world.size(); ++rank) {
    barriers_.push_back(std::make_unique<ThreadBarrier>(world.engine(), world.process(rank).host(), threads_per_rank,
                                                        world.process(rank).name() + "/thread barrier"));
  }
  for (const Role role : {Role::sender, Role::receiver}) {
    for (int pair = 0; pair < parameters_.pairs; ++pair) {
      const bool sends = role == Role::sender;
      const int sending_rank = threads() ? 0 : pair;
      const int receiving_rank = threads() ? 1 : parameters_.pairs + pair;
      const int rank = sends ? sending_rank : receiving_rank;
      const Entity entity{pair,
                          rank,
                          sends ? receiving_rank : sending_rank,
                          communicators[static_cast<std::size_t>(pair)],
                          barriers_[static_cast<std::size_t>(rank)].get(),
                          !threads() || pair == 0};
      Process& process = world.process(rank);
      SimThread& thread = world.engine().spawn(
          (sends ? "sender " : "receiver ") + std::to_string(pair), sends ? sending_host : receiving_host, pair,
          [this, &process, entity, sends](SimThread& self) {
            sends ? run_sender(self, process, entity) : run_receiver(self, process, entity);
          });
      thread.set_process(rank);
      threads_of_role_[static_cast<std::size_t>(role)].push_back(&thread);
    }
  }
}

/// All threads of the process, then all processes; nobody goes on before everybody is there.
void MultiratePairwise::meet(SimThread& self, Process& process, const Entity& entity) const {
  entity.barrier->wait(self);
  if (entity.leader) {
    process.barrier(self, world_communicator_);
  }
  entity.barrier->wait(self);
}

/// The timed part begins when the last thread enters it, and ends when the last thread leaves its last iteration.
void MultiratePairwise::note_progress(SimThread& self, int iteration) {
  if (iteration == parameters_.warmup_iterations) {
    self.reset_times();
    timed_start_ = std::max(timed_start_, self.now());
  } else if (iteration == parameters_.warmup_iterations + parameters_.iterations) {
    ++finished_;
    timed_end_ = std::max(timed_end_, self.now());
  }
}

void MultiratePairwise::run_sender(SimThread& self, Process& process, const Entity& entity) {
  const int ready = parameters_.window;
  const int acknowledgement = parameters_.window + 1;
  std::vector<Request*> requests(static_cast<std::size_t>(parameters_.window));
  const int iterations = parameters_.warmup_iterations + parameters_.iterations;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    note_progress(self, iteration);
    meet(self, process, entity);
    process.recv(self, entity.communicator, entity.peer, ready, 1);
    for (int k = 0; k < parameters_.window; ++k) {
      requests[static_cast<std::size_t>(k)] =
          process.isend(self, entity.communicator, entity.peer, k, parameters_.message_size_bytes);
    }
    process.waitall(self, requests);
    process.recv(self, entity.communicator, entity.peer, acknowledgement, 1);
  }
  note_progress(self, iterations);
}

void MultiratePairwise::run_receiver(SimThread& self, Process& process, const Entity& entity) {
  const int ready = parameters_.window;
  const int acknowledgement = parameters_.window + 1;
  std::vector<Request*> requests(static_cast<std::size_t>(parameters_.window));
  const int iterations = parameters_.warmup_iterations + parameters_.iterations;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    note_progress(self, iteration);
    for (int k = 0; k < parameters_.window; ++k) {
      requests[static_cast<std::size_t>(k)] = process.irecv(
          self, entity.communicator, entity.peer, parameters_.any_tag ? any_tag : k, parameters_.message_size_bytes);
    }
    meet(self, process, entity);
    process.send(self, entity.communicator, entity.peer, ready, 1);
    process.waitall(self, requests);
    process.send(self, entity.communicator, entity.peer, acknowledgement, 1);
  }
  note_progress(self, iterations);
}

WorkloadResult MultiratePairwise::result(const World& world) const {
  const std::int64_t per_iteration = std::int64_t{parameters_.pairs} * parameters_.window;
  const std::int64_t all = per_iteration * (parameters_.warmup_iterations + parameters_.iterations);
  std::int64_t received = 0;
  for (int rank = 0; rank < world.size(); ++rank) {
    if (role_of_rank(rank) == Role::receiver) {
      received += world.process(rank).counters().received;
    }
  }
  if (received != all || finished_ != 2 * parameters_.pairs) {
    throw InvariantViolation("Multirate received " + std::to_string(received) + " of " + std::to_string(all) +
                             " messages");
  }
  WorkloadResult result;
  result.operations = per_iteration * parameters_.iterations;
  result.elapsed = timed_end_ - timed_start_;
  for (std::size_t role = 0; role < 2; ++role) {
    result.threads[role] = static_cast<int>(threads_of_role_[role].size());
    for (const SimThread* thread : threads_of_role_[role]) {
      std::transform(result.times[role].begin(), result.times[role].end(), thread->times().begin(),
                     result.times[role].begin(), std::plus<>());
    }
  }
  return result;
}

Registry<WorkloadFactory>& workload_registry() {
  static Registry<WorkloadFactory> registry{
      {"multirate",
       [](const MultirateParameters& parameters) -> std::unique_ptr<Workload> {
         return std::make_unique<MultiratePairwise>(parameters);
       }},
  };
  return registry;
}

} // namespace contend
