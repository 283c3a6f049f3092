// The payload of a message above the eager limit, from the matched envelope to two complete requests.
//
//   get:  sender  --rendezvous-->   receiver matches, reads the payload   --finish-->  sender
//   put:  sender  --rendezvous-->   receiver matches  --acknowledge-->    sender writes the payload  --finish-->  receiver
//   send: sender  --rendezvous-->   receiver matches  --acknowledge-->    sender copies pieces  --fragments-->    receiver
#include "mpi/process.hpp"

#include <algorithm>
#include <utility>

namespace contend {

Rendezvous* Process::new_rendezvous() {
  while (!open_rendezvous_.empty() && open_rendezvous_.front()->sender_done &&
         open_rendezvous_.front()->receiver_done) {
    free_rendezvous_.push_back(open_rendezvous_.front());
    open_rendezvous_.pop_front();
  }
  if (free_rendezvous_.empty()) {
    free_rendezvous_.push_back(&rendezvous_.emplace_back());
  }
  Rendezvous* const rendezvous = free_rendezvous_.back();
  free_rendezvous_.pop_back();
  open_rendezvous_.push_back(rendezvous);
  return rendezvous;
}

/// The interface reads and writes memory that the kernel has pinned for it.
void Process::register_buffer(SimThread& self, const Request& request) {
  constexpr std::int64_t page = 4096;
  if (instances_.front().interface == nullptr) {
    return; // the kernel copies
  }
  const NicParameters& nic = instances_.front().interface->nic().parameters();
  const auto owner = static_cast<std::size_t>(request.owner);
  if (registered_bytes_.size() <= owner) {
    registered_bytes_.resize(owner + 1, 0);
  }
  if (settings_.library.protocol.registration_cache && registered_bytes_[owner] >= request.bytes) {
    self.owe(nic.registration_hit, Category::software);
    return;
  }
  self.owe(nic.registration + nic.registration_page * ((request.bytes + page - 1) / page), Category::software);
  registered_bytes_[owner] = std::max(registered_bytes_[owner], request.bytes);
}

/// The receive of a rendezvous message is known. The caller may hold the lock of an instance, but not a matching lock.
void Process::begin_rendezvous(SimThread& self, Request& receive, const Envelope& envelope) {
  Rendezvous& rendezvous = *envelope.rendezvous;
  rendezvous.receive = &receive;
  receive.bytes = rendezvous.bytes;
  const std::string& protocol = settings_.library.protocol.rendezvous;
  if (protocol != "send") {
    register_buffer(self, receive);
  }
  if (protocol == "get") {
    take_step(self, {RendezvousStep::Kind::transfer, Header::rendezvous, &rendezvous, rendezvous.bytes});
  } else {
    take_step(self, {RendezvousStep::Kind::message, Header::acknowledge, &rendezvous, 0});
  }
}

/// A message about a rendezvous has arrived.
void Process::continue_rendezvous(SimThread& self, const Envelope& envelope) {
  Rendezvous& rendezvous = *envelope.rendezvous;
  switch (envelope.header) {
  case Header::acknowledge:
    if (settings_.library.protocol.rendezvous == "put") {
      take_step(self, {RendezvousStep::Kind::transfer, Header::rendezvous, &rendezvous, rendezvous.bytes});
    } else {
      send_pieces(self, instance_for_reply(self, rendezvous), rendezvous);
    }
    break;
  case Header::fragment:
    copy(self, envelope.bytes);
    if (handles_unlocked_) {
      self.settle(); // another thread may copy the piece that comes last
    }
    rendezvous.arrived += envelope.bytes;
    if (rendezvous.arrived == rendezvous.bytes) {
      finish_receive(self, rendezvous);
    }
    break;
  default: // finish: the other side knows that the payload is where it belongs
    rendezvous.sender == rank_ ? finish_send(self, rendezvous) : finish_receive(self, rendezvous);
    break;
  }
}

/// The interface has done what this side asked for.
void Process::transferred(SimThread& self, const Envelope& envelope) {
  show_found(self, 0);
  Rendezvous& rendezvous = *envelope.rendezvous;
  if (envelope.header == Header::fragment) {
    --rendezvous.pieces_under_way;
    if (rendezvous.handed_over < rendezvous.bytes) {
      send_pieces(self, instance_for_reply(self, rendezvous), rendezvous);
    } else if (rendezvous.pieces_under_way == 0) {
      finish_send(self, rendezvous);
    }
    return;
  }
  take_step(self, {RendezvousStep::Kind::message, Header::finish, &rendezvous, 0});
}

/// Sends pieces as far as there is room and they may be under way. A message that has some left waits as one, not piece
/// by piece (mca_pml_ob1_send_request_schedule_once, MCA_PML_OB1_SEND_PENDING_SCHEDULE), unless connections have their
/// own lists. Returns whether one went out.
bool Process::send_pieces(SimThread& self, Instance& instance, Rendezvous& rendezvous) {
  const ProtocolDesign& protocol = settings_.library.protocol;
  bool sent = false;
  while (!rendezvous.pieces_wait && rendezvous.handed_over < rendezvous.bytes &&
         rendezvous.pieces_under_way < protocol.pieces_under_way) {
    const std::int64_t bytes = std::min(protocol.piece_bytes, rendezvous.bytes - rendezvous.handed_over);
    const RendezvousStep piece{RendezvousStep::Kind::piece, Header::fragment, &rendezvous, bytes};
    const bool in_turn = waits_in_turn(instance, piece);
    bool room = in_turn || has_room_for(instance, piece);
    if (room) {
      rendezvous.handed_over += bytes;
      ++rendezvous.pieces_under_way;
      if (!copied_by_transport_) {
        copy(self, bytes); // into a buffer that the interface knows
      }
      if (in_turn) {
        take_step(self, piece);
      } else {
        self.settle();
        room = post_step(self, instance, piece);
        if (!room) { // others were faster; the copy was in vain
          rendezvous.handed_over -= bytes;
          --rendezvous.pieces_under_way;
        }
      }
    }
    if (!room) {
      if (!std::exchange(rendezvous.pieces_wait, true)) {
        wait_for_room(self, piece);
      }
      return sent;
    }
    sent = true;
  }
  return sent;
}

/// Takes the step at once if the interface has room, else at the end of some turn of progress.
void Process::take_step(SimThread& self, const RendezvousStep& step) {
  self.settle();
  Instance& instance = instance_for_reply(self, *step.rendezvous);
  const auto number = static_cast<int>(&instance - instances_.data());
  const int peer = step.rendezvous->sender == rank_ ? step.rendezvous->receiver : step.rendezvous->sender;
  const bool in_turn = waits_in_turn(instance, step);
  if (!(in_turn && others_wait_at(number, peer)) && post_step(self, instance, step)) {
    after_step(self, instance, step);
    return;
  }
  if (in_turn) {
    update_shared(self, steps_line_, Category::line_transfer);
    wait_at_connection(number, peer, {{}, false, step});
    end_rests(); // a resting thread would find it at the end of its turn
  } else {
    wait_for_room(self, step);
  }
}

void Process::wait_for_room(SimThread& self, const RendezvousStep& step) {
  const Rendezvous& rendezvous = *step.rendezvous;
  update_shared(self, steps_line_, Category::line_transfer);
  const int peer = rendezvous.sender == rank_ ? rendezvous.receiver : rendezvous.sender;
  steps_[static_cast<std::size_t>(step.kind)].by_connection[{number_of_instance(rendezvous), peer}].push_back(step);
  ++waiting_steps_;
  end_rests(); // a resting thread would find it at the end of its turn
}

/// A thread in the middle of a poll under the lock answers where it polls: waiting for a second instance's lock could end in a
/// deadlock.
Process::Instance& Process::instance_for_reply(SimThread& self, const Rendezvous& rendezvous) {
  const auto held = std::find_if(instances_.begin(), instances_.end(),
                                 [&](const Instance& instance) { return instance.lock->holder() == &self; });
  return held != instances_.end() ? *held : instance_of(self, rendezvous);
}

/// The instance of the request where requests have one: the other side looks there. -1: threads choose.
int Process::number_of_instance(const Rendezvous& rendezvous) const {
  const bool sends = rendezvous.sender == rank_;
  const Request& request = sends ? *rendezvous.send : *rendezvous.receive;
  if (mapping_.by_peer()) { // the request of a receive from anybody has none
    return mapping_.of(0, 0, sends ? rendezvous.receiver : rendezvous.sender);
  }
  return mapping_.decides() ? request.instance : -1;
}

Process::Instance& Process::instance_of(SimThread& self, const Rendezvous& rendezvous) {
  const int number = number_of_instance(rendezvous);
  return instances_[static_cast<std::size_t>(number >= 0 ? number : assignment_->pick(self))];
}

/// Whether a step that finds no room waits behind the messages of its connection, and they behind it.
bool Process::waits_in_turn(const Instance& instance, const RendezvousStep& step) const {
  const bool sends = step.rendezvous->sender == rank_;
  const Connection& connection = connection_to(instance, sends ? step.rendezvous->receiver : step.rendezvous->sender);
  switch (step.kind) {
  case RendezvousStep::Kind::transfer:
    return behind_others_ && connection.takes_turn(sends ? Bulk::write : Bulk::read);
  case RendezvousStep::Kind::piece:
  case RendezvousStep::Kind::message:
    break;
  }
  return behind_others_;
}

/// Tries a step under the lock that it takes. Returns whether there was room.
bool Process::post_step(SimThread& self, Instance& instance, const RendezvousStep& step) {
  const Rendezvous& rendezvous = *step.rendezvous;
  if (over_on_return(instance, step)) {
    return try_step(self, instance, step);
  }
  Lock& lock = send_lock_of(instance, rendezvous.sender == rank_ ? rendezvous.receiver : rendezvous.sender);
  const bool held = lock.holder() == &self; // by a poll: the locks of instances are recursive in btl/uct
  if (!held) {
    lock.lock(self);
  }
  const bool taken = try_step(self, instance, step);
  if (!held) {
    lock.unlock(self);
  }
  return taken;
}

bool Process::try_step(SimThread& self, Instance& instance, const RendezvousStep& step) {
  const Rendezvous& rendezvous = *step.rendezvous;
  Connection& connection =
      connection_to(instance, rendezvous.sender == rank_ ? rendezvous.receiver : rendezvous.sender);
  const Envelope envelope{0, rank_, 0, 0, step.bytes, step.header, step.rendezvous};
  switch (step.kind) {
  case RendezvousStep::Kind::transfer:
    return connection.post_bulk(self, rendezvous.sender == rank_ ? Bulk::write : Bulk::read, envelope, step.bytes);
  case RendezvousStep::Kind::piece:
    return connection.post_bulk(self, Bulk::send, envelope, step.bytes);
  case RendezvousStep::Kind::message:
    break;
  }
  return connection.post(self, envelope, wire_bytes(envelope));
}

/// The payload moves while its poster waits (mca_btl_sm_get, which calls back before it returns).
bool Process::over_on_return(const Instance& instance, const RendezvousStep& step) const {
  const bool sends = step.rendezvous->sender == rank_;
  return step.kind == RendezvousStep::Kind::transfer &&
         connection_to(instance, sends ? step.rendezvous->receiver : step.rendezvous->sender)
             .over_on_return(sends ? Bulk::write : Bulk::read);
}

/// A side is done when the other one is told, so that no thread leaves the library with the message in its hands.
void Process::after_step(SimThread& self, const Instance& instance, const RendezvousStep& step) {
  if (over_on_return(instance, step)) {
    take_step(self, {RendezvousStep::Kind::message, Header::finish, step.rendezvous, 0});
  } else if (step.header == Header::finish) {
    step.rendezvous->sender == rank_ ? finish_send(self, *step.rendezvous) : finish_receive(self, *step.rendezvous);
  }
}

bool Process::has_room_for(const Instance& instance, const RendezvousStep& step) const {
  const Rendezvous& rendezvous = *step.rendezvous;
  const bool sends = rendezvous.sender == rank_;
  const Connection& connection = connection_to(instance, sends ? rendezvous.receiver : rendezvous.sender);
  switch (step.kind) {
  case RendezvousStep::Kind::transfer:
    return connection.has_room_for(sends ? Bulk::write : Bulk::read, step.bytes);
  case RendezvousStep::Kind::piece:
    return connection.has_room_for(Bulk::send, step.bytes);
  case RendezvousStep::Kind::message:
    break;
  }
  return connection.has_room(settings_.library.protocol.header_bytes);
}

/// Whether a turn of progress has steps to take. ob1 tries its pending lists when completions come
/// (MCA_PML_OB1_PROGRESS_PENDING); a look that costs nothing finds the room that these make.
bool Process::steps_may_go() const {
  return waiting_steps_ > 0 && std::any_of(steps_.begin(), steps_.end(), [&](const WaitingSteps& alike) {
           return std::any_of(alike.by_connection.begin(), alike.by_connection.end(),
                              [&](const auto& waiting) { return first_may_go(waiting.first.first, waiting.second); });
         });
}

/// Whether the first of these has room, at this instance or, with -1, at any.
bool Process::first_may_go(int instance, const RingQueue<RendezvousStep>& waiting) const {
  if (waiting.empty() || instance >= 0) {
    return !waiting.empty() && has_room_for(instances_[static_cast<std::size_t>(instance)], waiting.front());
  }
  return std::any_of(instances_.begin(), instances_.end(),
                     [&](const Instance& any) { return has_room_for(any, waiting.front()); });
}

/// Takes the steps that have room now, of each connection up to the first that has none. The rest waits without a try:
/// threads that queue for the lock in vain would keep a poll that tries a fair lock, and with it the completions that
/// make room, away for ever.
int Process::retry_steps(SimThread& self) {
  int taken = 0;
  for (WaitingSteps& alike : steps_) {
    auto& connections = alike.by_connection;
    auto next = connections.upper_bound(alike.tried_last);
    for (std::size_t left = connections.size(); left > 0; --left) {
      next = next == connections.end() ? connections.begin() : next;
      if (!next->second.empty()) {
        alike.tried_last = next->first;
        taken += retry_steps(self, next->first.first, next->second);
      }
      ++next;
    }
  }
  return taken;
}

/// The steps that wait for one connection.
int Process::retry_steps(SimThread& self, int instance, RingQueue<RendezvousStep>& waiting) {
  int taken = 0;
  while (first_may_go(instance, waiting)) {
    Instance& chosen = instances_[static_cast<std::size_t>(instance >= 0 ? instance : assignment_->pick(self))];
    if (waiting.empty() || !has_room_for(chosen, waiting.front())) {
      break; // with instances that threads choose, perhaps at another one
    }
    update_shared(self, steps_line_, Category::line_transfer);
    if (waiting.empty()) {
      break; // another thread was faster
    }
    const RendezvousStep step = waiting.front();
    waiting.pop_front();
    --waiting_steps_;
    if (step.kind == RendezvousStep::Kind::piece) {
      step.rendezvous->pieces_wait = false;
      const bool sent = send_pieces(self, chosen, *step.rendezvous);
      taken += sent ? 1 : 0;
      if (step.rendezvous->pieces_wait) {
        break;
      }
    } else if (post_step(self, chosen, step)) {
      after_step(self, chosen, step);
      ++taken;
    } else {
      update_shared(self, steps_line_, Category::line_transfer);
      waiting.push_front(step);
      ++waiting_steps_;
      end_rests(); // of who found none while this one was tried
      break;
    }
  }
  return taken;
}

void Process::finish_send(SimThread& self, Rendezvous& rendezvous) {
  rendezvous.sender_done = true;
  complete(self, *rendezvous.send);
}

void Process::finish_receive(SimThread& self, Rendezvous& rendezvous) {
  rendezvous.receiver_done = true;
  complete(self, *rendezvous.receive);
}

} // namespace contend
