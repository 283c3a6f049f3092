#include "workloads/multirate_all_to_all.hpp"

namespace contend {

namespace {

// Tags of data are numbers of threads, far below these.
constexpr int ready = 1'000'001;
constexpr int done = 1'000'002;

} // namespace

void MultirateAllToAll::create_communicators(World& world) {
  for (int& communicator : side_communicators_) {
    communicator = world.create_communicator(parameters().allow_overtaking);
  }
  if (parameters().communicator_per_pair) {
    for (int pair = 0; pair < parameters().senders * parameters().receivers; ++pair) {
      communicators_.push_back(world.create_communicator(parameters().allow_overtaking));
    }
  }
}

int MultirateAllToAll::communicator(int sender, int receiver) const {
  if (communicators_.empty()) {
    return world_communicator();
  }
  const int pair = sender * parameters().receivers + receiver;
  return communicators_[static_cast<std::size_t>(pair)];
}

void MultirateAllToAll::run(SimThread& self, const Entity& entity) {
  entity.role == Role::sender ? run_sender(self, entity) : run_receiver(self, entity);
}

/// All threads of the process, then all processes of this side. The barrier of the processes is called by one thread; the
/// benchmark lets every thread of a process call it on one communicator, which MPI does not allow.
void MultirateAllToAll::meet(SimThread& self, const Entity& entity) const {
  entity.barrier->wait(self);
  if (entity.leads()) {
    entity.process->barrier(self, side_communicators_[static_cast<std::size_t>(entity.role)], first_rank(entity.role),
                            ranks(entity.role));
  }
  entity.barrier->wait(self);
}

void MultirateAllToAll::run_sender(SimThread& self, const Entity& entity) {
  Process& process = *entity.process;
  const int first_receiver = first_rank(Role::receiver);
  std::vector<Request*> requests;
  requests.reserve(static_cast<std::size_t>(parameters().receivers) * static_cast<std::size_t>(parameters().window));
  for (int iteration = 0; iteration < iterations(); ++iteration) {
    begin_iteration(self, entity, iteration);
    if (entity.number == 0) { // for all senders: every receiving process has posted its receives
      for (int rank = 0; rank < ranks(Role::receiver); ++rank) {
        process.recv(self, world_communicator(), first_receiver + rank, ready, 1);
      }
    }
    meet(self, entity);
    requests.clear();
    for (int receiver = 0; receiver < parameters().receivers; ++receiver) {
      const int tag = threads(Role::receiver) ? receiver : 0; // the receiving thread
      for (int k = 0; k < parameters().window; ++k) {
        requests.push_back(process.isend(self, communicator(entity.number, receiver), rank_of(Role::receiver, receiver),
                                         tag, parameters().message_size_bytes));
      }
    }
    process.waitall(self, requests);
    if (entity.leads()) {
      for (int rank = 0; rank < ranks(Role::receiver); ++rank) {
        process.recv(self, world_communicator(), first_receiver + rank, done, 1);
      }
    }
    meet(self, entity);
  }
  end_iterations(self, entity);
}

void MultirateAllToAll::run_receiver(SimThread& self, const Entity& entity) {
  Process& process = *entity.process;
  std::vector<Request*> requests;
  requests.reserve(static_cast<std::size_t>(parameters().senders) * static_cast<std::size_t>(parameters().window));
  for (int iteration = 0; iteration < iterations(); ++iteration) {
    begin_iteration(self, entity, iteration);
    requests.clear();
    for (int sender = 0; sender < parameters().senders; ++sender) {
      for (int k = 0; k < parameters().window; ++k) {
        requests.push_back(process.irecv(self, communicator(sender, entity.number),
                                         wanted_source(rank_of(Role::sender, sender)), wanted_tag(entity.thread),
                                         parameters().message_size_bytes));
      }
    }
    meet(self, entity);
    if (entity.leads()) {
      process.send(self, world_communicator(), 0, ready, 1);
    }
    process.waitall(self, requests);
    if (entity.leads()) {
      for (int rank = 0; rank < ranks(Role::sender); ++rank) {
        process.send(self, world_communicator(), rank, done, 1);
      }
    }
    meet(self, entity);
  }
  end_iterations(self, entity);
}

} // namespace contend
