#include "multirate/pairwise.hpp"

namespace contend::native {

std::size_t Pairwise::requests_of(Role /*role*/) const { return static_cast<std::size_t>(workload().window); }

void Pairwise::iterate(Entity& entity, std::int64_t iteration) {
  entity.role == Role::sender ? iterate_sender(entity, iteration) : iterate_receiver(entity, iteration);
}

void Pairwise::iterate_sender(Entity& entity, std::int64_t iteration) {
  const MPI_Comm communicator = communicators().channel(entity.number);
  const int peer = workload().rank_of(Role::receiver, entity.number);
  const int window = static_cast<int>(workload().window);
  const MPI_Comm words = workload().handshake == "world" ? communicators().world() : communicator;
  const int ready = workload().tag_of(entity.number, window);
  const int acknowledgement = workload().tag_of(entity.number, window + 1);
  if (workload().barrier_every_iteration) {
    meet_all(entity);
  }
  receive_word(words, peer, ready);
  const auto number = static_cast<std::uint32_t>(entity.number);
  for (int k = 0; k < window; ++k) {
    send(entity, communicator, peer, workload().tag_of(entity.number, k),
         {number, number, static_cast<std::uint32_t>(iteration), static_cast<std::uint32_t>(k)});
  }
  complete(entity);
  receive_word(words, peer, acknowledgement);
}

void Pairwise::iterate_receiver(Entity& entity, std::int64_t iteration) {
  const MPI_Comm communicator = communicators().channel(entity.number);
  const int peer = workload().rank_of(Role::sender, entity.number);
  const int window = static_cast<int>(workload().window);
  const MPI_Comm words = workload().handshake == "world" ? communicators().world() : communicator;
  const int ready = workload().tag_of(entity.number, window);
  const int acknowledgement = workload().tag_of(entity.number, window + 1);
  const bool own_messages = workload().tells_pairs_apart();
  Expected expected{.source = peer,
                    .tag = MPI_ANY_TAG,
                    .sender = own_messages ? entity.number : -1,
                    .receiver = own_messages ? entity.number : -1,
                    .iteration = own_messages || workload().barrier_every_iteration ? iteration : -1};
  for (int k = 0; k < window; ++k) {
    if (!workload().any_tag) {
      expected.tag = workload().tag_of(entity.number, k);
    }
    receive(entity, communicator, expected);
  }
  if (workload().barrier_every_iteration) {
    meet_all(entity);
  }
  send_word(words, peer, ready);
  complete(entity);
  send_word(words, peer, acknowledgement);
}

} // namespace contend::native
