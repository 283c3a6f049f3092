#include "mpi/rendezvous_steps.hpp"

namespace contend {

/// How the payload of a step that has some moves.
Bulk RendezvousSteps::bulk_of(const RendezvousStep& step) const {
  if (step.kind == RendezvousStep::Kind::piece) {
    return Bulk::send;
  }
  return sends(*step.rendezvous) ? Bulk::write : Bulk::read;
}

bool RendezvousSteps::has_room_for(const Instance& instance, const RendezvousStep& step) const {
  const Connection& connection = connection_of(instance, step);
  if (step.kind == RendezvousStep::Kind::message) {
    return connection.has_room(process_.library().protocol.header_bytes);
  }
  return connection.has_room_for(bulk_of(step), step.bytes);
}

bool RendezvousSteps::post(SimThread& self, const Instance& instance, const RendezvousStep& step) const {
  if (over_on_return(instance, step)) {
    return post_locked(self, instance, step);
  }
  Lock& lock = instance.send_lock(peer_of(*step.rendezvous));
  const bool held = lock.holder() == &self; // by a poll: the locks of instances are recursive in btl/uct
  if (!held) {
    lock.lock(self);
  }
  const bool taken = post_locked(self, instance, step);
  if (!held) {
    lock.unlock(self);
  }
  return taken;
}

bool RendezvousSteps::post_locked(SimThread& self, const Instance& instance, const RendezvousStep& step) const {
  Connection& connection = instance.connection_to(peer_of(*step.rendezvous));
  const Envelope envelope{0, process_.rank(), 0, 0, step.bytes, step.header, step.rendezvous};
  if (step.kind == RendezvousStep::Kind::message) {
    return connection.post(self, envelope, process_.wire_bytes(envelope));
  }
  return connection.post_bulk(self, bulk_of(step), envelope, step.bytes);
}

bool RendezvousSteps::over_on_return(const Instance& instance, const RendezvousStep& step) const {
  return step.kind == RendezvousStep::Kind::transfer && connection_of(instance, step).over_on_return(bulk_of(step));
}

bool RendezvousSteps::takes_turn(const Instance& instance, const RendezvousStep& step) const {
  return step.kind != RendezvousStep::Kind::transfer || connection_of(instance, step).takes_turn(bulk_of(step));
}

} // namespace contend
