#include "workloads/multirate_pairwise.hpp"

namespace contend {

void MultiratePairwise::run(SimThread& self, const Entity& entity) {
  entity.role == Role::sender ? run_sender(self, entity) : run_receiver(self, entity);
}

void MultiratePairwise::run_sender(SimThread& self, const Entity& entity) {
  Process& process = *entity.process;
  const int communicator = communicator_of(entity);
  const int peer = peer_of(entity);
  const int words = handshake_communicator(communicator);
  const int ready_tag = tag_of(entity.number, parameters().window);
  const int acknowledgement = tag_of(entity.number, parameters().window + 1);
  std::vector<Request*> requests(static_cast<std::size_t>(parameters().window));
  for (int iteration = 0; iteration < iterations(); ++iteration) {
    begin_iteration(self, entity, iteration);
    if (parameters().barrier_every_iteration) {
      meet_all(self, entity);
    }
    process.recv(self, words, peer, ready_tag, 1);
    for (int k = 0; k < parameters().window; ++k) {
      requests[static_cast<std::size_t>(k)] =
          process.isend(self, communicator, peer, tag_of(entity.number, k), parameters().message_size_bytes);
    }
    process.waitall(self, requests);
    process.recv(self, words, peer, acknowledgement, 1);
  }
  end_iterations(self, entity);
}

void MultiratePairwise::run_receiver(SimThread& self, const Entity& entity) {
  Process& process = *entity.process;
  const int communicator = communicator_of(entity);
  const int peer = peer_of(entity);
  const int words = handshake_communicator(communicator);
  const int ready_tag = tag_of(entity.number, parameters().window);
  const int acknowledgement = tag_of(entity.number, parameters().window + 1);
  std::vector<Request*> requests(static_cast<std::size_t>(parameters().window));
  for (int iteration = 0; iteration < iterations(); ++iteration) {
    begin_iteration(self, entity, iteration);
    for (int k = 0; k < parameters().window; ++k) {
      requests[static_cast<std::size_t>(k)] =
          process.irecv(self, communicator, wanted_source(peer), wanted_tag(tag_of(entity.number, k)),
                        parameters().message_size_bytes);
    }
    if (parameters().barrier_every_iteration) {
      meet_all(self, entity);
    }
    process.send(self, words, peer, ready_tag, 1);
    process.waitall(self, requests);
    process.send(self, words, peer, acknowledgement, 1);
  }
  end_iterations(self, entity);
}

} // namespace contend
