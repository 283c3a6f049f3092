#include "mpi/send_path.hpp"

namespace contend {

SendPath::SendPath(ProcessContext& process, Instances& instances, Communicators& communicators, RequestPool& requests,
                   CompletionPath& completion, RendezvousPath& rendezvous, PendingSends& pending,
                   PostponedSends& postponed, CompletionHandler& handler)
    : process_(process), instances_(instances), communicators_(communicators), requests_(requests),
      completion_(completion), rendezvous_(rendezvous), pending_(pending), postponed_(postponed), handler_(handler),
      postpones_(process.library().protocol.pending_order == "at-interface"),
      calls_hold_instance_(process.library().critical_section == "instance") {}

Request* SendPath::start(SimThread& self, int communicator, int destination, int tag, std::int64_t bytes,
                         Request* handle) {
  const bool to_self = destination == process_.rank();
  const bool call_holds = calls_hold_instance_ && !to_self;
  int instance = 0;
  if (call_holds) {
    instance = instances_.of_message(self, communicator, tag, destination);
    instances_[instance].send_lock(destination).lock(self);
  }
  process_.software(self, process_.settings().software.send_call);
  communicators_.count_reference(self, communicator);
  Communicator& comm = communicators_[communicator];
  Envelope envelope{communicator, process_.rank(), tag, 0, bytes};
  process_.counters().sent += tag >= 0 ? 1 : 0;
  if (comm.sequenced) {
    // The number is taken before the instance lock: threads that pass each other in between send out of sequence.
    PeerState& peer = comm.peers[static_cast<std::size_t>(destination)];
    process_.update_shared(self, *peer.send_line, Category::line_transfer);
    envelope.sequence = peer.next_to_send++;
  }
  if (to_self) {
    process_.copy(self, bytes);
    return deliver_to_self(self, envelope, handle);
  }
  const bool eager = bytes <= process_.library().protocol.eager_limit_bytes;
  Request* request = eager ? handle : announce(self, envelope, destination, handle);
  if (!call_holds) {
    instance = instances_.of_message(self, communicator, tag, destination);
  }
  Lock& lock = instances_[instance].send_lock(destination);
  if (!call_holds) {
    lock.lock(self);
  }
  const bool sent = post_at_once(self, instance, destination, envelope);
  if (!call_holds) {
    lock.unlock(self);
  }
  if (eager) {
    request = finish_eager(self, envelope, instance, handle, sent);
  }
  if (!sent && postpones_) {
    if (!call_holds) {
      lock.lock(self);
    }
    postponed_.add({instance, destination, envelope, request});
    if (!call_holds) {
      lock.unlock(self);
    }
  }
  if (call_holds) {
    lock.unlock(self);
  }
  if (!sent && !postpones_) {
    if (is_packed(envelope)) {
      process_.copy(self, bytes);
    }
    pending_.add(self, {instance, destination, envelope, request});
  }
  return request;
}

/// The fast path, under the lock that senders hold: payload is packed into a buffer of the interface where there is room for the
/// message (mca_btl_uct_sendi, mca_btl_openib_sendi). What finds none is packed without the lock.
bool SendPath::post_at_once(SimThread& self, int instance, int destination, const Envelope& envelope) {
  Connection& connection = instances_[instance].connection_to(destination);
  const std::int64_t wire_bytes = process_.wire_bytes(envelope);
  if (postpones_ ? postponed_.waiting_at(instance) : pending_.behind_others(instance, destination)) {
    return false;
  }
  if (is_packed(envelope) && connection.has_room(wire_bytes)) {
    process_.copy(self, envelope.bytes);
  }
  return connection.post(self, envelope, wire_bytes);
}

/// The request of a message that was posted, or could not be. None if it is complete on return.
Request* SendPath::finish_eager(SimThread& self, const Envelope& envelope, int instance, Request* handle, bool sent) {
  const bool inlined = envelope.bytes <= process_.library().protocol.inline_limit_bytes;
  if (sent && inlined) {
    if (handle != nullptr) {
      completion_.complete(self, *handle);
    } else {
      communicators_.count_reference(self, envelope.communicator);
    }
    return handle;
  }
  self.owe(process_.settings().software.send_request, Category::software);
  Request* request = handle;
  if (handle == nullptr) {
    request = requests_.allocate(self, instances_.mapping().decides() ? instance : -1);
    request->communicator = envelope.communicator;
  }
  if (sent && handle != nullptr) { // the payload is in a bounce buffer
    completion_.complete(self, *handle);
  } else if (sent) {
    completion_.complete_at_once(self, *request);
  }
  return request;
}

/// A message to the own rank goes to the receiving side at once, without the interface and whatever its size (as btl/self
/// does).
Request* SendPath::deliver_to_self(SimThread& self, const Envelope& envelope, Request* handle) {
  const int guard = instances_.guard_queues()
                        ? instances_.mapping().of(envelope.communicator, envelope.tag, process_.rank())
                        : InstanceMapping::every_instance;
  instances_.lock_guards(self, guard);
  handler_.receive(self, envelope);
  instances_.unlock_guards(self, guard);
  if (handle != nullptr) {
    completion_.complete(self, *handle);
  } else {
    communicators_.count_reference(self, envelope.communicator);
  }
  return handle;
}

/// Makes `envelope` that of a message above the eager limit, and returns the request of its sender.
Request* SendPath::announce(SimThread& self, Envelope& envelope, int destination, Request* handle) {
  Request* request = handle;
  if (handle == nullptr) {
    request =
        requests_.allocate(self, instances_.mapping().of_request(InstanceMapping::Direction::send,
                                                                 envelope.communicator, envelope.tag, destination));
    request->owner = self.id();
  }
  request->communicator = envelope.communicator;
  request->bytes = envelope.bytes;
  self.owe(process_.settings().software.send_request, Category::software);
  envelope.header = Header::rendezvous;
  envelope.rendezvous = rendezvous_.announce(self, *request, destination);
  return request;
}

} // namespace contend
