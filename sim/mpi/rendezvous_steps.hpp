// The steps of a rendezvous, as one side takes them at one of its instances.
#pragma once

#include "mpi/instances.hpp"
#include "mpi/process_context.hpp"
#include "mpi/rendezvous.hpp"

namespace contend {

class RendezvousSteps {
public:
  explicit RendezvousSteps(const ProcessContext& process) : process_(process) {}

  /// Whether this side sends the payload.
  [[nodiscard]] bool sends(const Rendezvous& rendezvous) const { return rendezvous.sender == process_.rank(); }
  [[nodiscard]] int peer_of(const Rendezvous& rendezvous) const {
    return sends(rendezvous) ? rendezvous.receiver : rendezvous.sender;
  }
  /// Whether it is worth trying.
  [[nodiscard]] bool has_room_for(const Instance& instance, const RendezvousStep& step) const;
  /// Tries a step under the lock that it takes. Returns whether there was room.
  bool post(SimThread& self, const Instance& instance, const RendezvousStep& step) const;
  /// The same for a caller that has the lock.
  bool post_locked(SimThread& self, const Instance& instance, const RendezvousStep& step) const;
  /// The payload moves while its poster waits (mca_btl_sm_get, which calls back before it returns).
  [[nodiscard]] bool over_on_return(const Instance& instance, const RendezvousStep& step) const;
  /// Whether the step takes its turn among the messages of its connection.
  [[nodiscard]] bool takes_turn(const Instance& instance, const RendezvousStep& step) const;

private:
  [[nodiscard]] Bulk bulk_of(const RendezvousStep& step) const;
  [[nodiscard]] const Connection& connection_of(const Instance& instance, const RendezvousStep& step) const {
    return instance.connection_to(peer_of(*step.rendezvous));
  }

  const ProcessContext& process_;
};

} // namespace contend
