#include "multirate/all_to_all.hpp"

namespace contend::native {

namespace {

// Tags of data are numbers of threads, far below these, which every library allows (MPI guarantees 32767).
constexpr int ready = 30'001;
constexpr int done = 30'002;

} // namespace

std::size_t AllToAll::requests_of(Role role) const {
  const Role other = role == Role::sender ? Role::receiver : Role::sender;
  return static_cast<std::size_t>(workload().entities(other)) * static_cast<std::size_t>(workload().window);
}

MPI_Comm AllToAll::channel(int sender, int receiver) const {
  return communicators().channel(sender * workload().receivers + receiver);
}

void AllToAll::iterate(Entity& entity, std::int64_t iteration) {
  entity.role == Role::sender ? iterate_sender(entity, iteration) : iterate_receiver(entity, iteration);
}

void AllToAll::iterate_sender(Entity& entity, std::int64_t iteration) {
  const int first_receiver = workload().first_rank(Role::receiver);
  if (entity.number == 0) { // for all senders: every receiving process has posted its receives
    for (int rank = 0; rank < workload().ranks(Role::receiver); ++rank) {
      receive_word(communicators().world(), first_receiver + rank, ready);
    }
  }
  meet_side(entity);
  for (int receiver = 0; receiver < workload().receivers; ++receiver) {
    const int to = workload().rank_of(Role::receiver, receiver);
    for (int k = 0; k < workload().window; ++k) {
      send(entity, channel(entity.number, receiver), to, tag_of(receiver),
           {static_cast<std::uint32_t>(entity.number), static_cast<std::uint32_t>(receiver),
            static_cast<std::uint32_t>(iteration), static_cast<std::uint32_t>(k)});
    }
  }
  complete(entity);
  if (entity.leads()) {
    for (int rank = 0; rank < workload().ranks(Role::receiver); ++rank) {
      receive_word(communicators().world(), first_receiver + rank, done);
    }
  }
  meet_side(entity);
}

void AllToAll::iterate_receiver(Entity& entity, std::int64_t iteration) {
  // Threads that share a communicator and accept any tag take each other's messages, and those of any sender in a process.
  const bool own = workload().communicator_per_pair;
  const bool mixed_receivers = !own && workload().any_tag && workload().threads(Role::receiver);
  const bool mixed_senders = !own && workload().threads(Role::sender);
  for (int sender = 0; sender < workload().senders; ++sender) {
    const Expected expected{.source = workload().rank_of(Role::sender, sender),
                            .tag = workload().any_tag ? MPI_ANY_TAG : tag_of(entity.number),
                            .sender = mixed_senders ? -1 : sender,
                            .receiver = mixed_receivers ? -1 : entity.number,
                            .iteration = iteration};
    for (int k = 0; k < workload().window; ++k) {
      receive(entity, channel(sender, entity.number), expected);
    }
  }
  meet_side(entity);
  if (entity.leads()) {
    send_word(communicators().world(), 0, ready);
  }
  complete(entity);
  if (entity.leads()) {
    for (int rank = 0; rank < workload().ranks(Role::sender); ++rank) {
      send_word(communicators().world(), rank, done);
    }
  }
  meet_side(entity);
}

} // namespace contend::native
