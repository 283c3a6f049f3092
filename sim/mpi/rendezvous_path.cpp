#include "mpi/rendezvous_path.hpp"

#include "mpi/show_message.hpp"

#include <algorithm>
#include <utility>

namespace contend {

RendezvousPath::RendezvousPath(ProcessContext& process, Instances& instances, ProgressTurns& turns,
                               CompletionPath& completion, const RendezvousSteps& steps, ConnectionQueues& queues)
    : process_(process), instances_(instances), turns_(turns), completion_(completion), steps_(steps), queues_(queues),
      waiting_line_(process.engine(), process.host(), process.name() + "/rendezvous steps") {
  queues.tell(*this);
}

Rendezvous* RendezvousPath::allocate() {
  while (!open_.empty() && open_.front()->sender_done && open_.front()->receiver_done) {
    free_.push_back(open_.front());
    open_.pop_front();
  }
  if (free_.empty()) {
    free_.push_back(&all_.emplace_back());
  }
  Rendezvous* const rendezvous = free_.back();
  free_.pop_back();
  open_.push_back(rendezvous);
  return rendezvous;
}

/// The interface reads and writes memory that the kernel has pinned for it.
void RendezvousPath::register_buffer(SimThread& self, const Request& request) {
  constexpr std::int64_t page = 4096;
  if (instances_[0].interface == nullptr) {
    return; // the kernel copies
  }
  const NicParameters& nic = instances_[0].interface->nic().parameters();
  const auto owner = static_cast<std::size_t>(request.owner);
  if (registered_bytes_.size() <= owner) {
    registered_bytes_.resize(owner + 1, 0);
  }
  if (process_.library().protocol.registration_cache && registered_bytes_[owner] >= request.bytes) {
    self.owe(nic.registration_hit, Category::software);
    return;
  }
  self.owe(nic.registration + nic.registration_page * ((request.bytes + page - 1) / page), Category::software);
  registered_bytes_[owner] = std::max(registered_bytes_[owner], request.bytes);
}

Rendezvous* RendezvousPath::announce(SimThread& self, Request& send, int destination) {
  Rendezvous* const rendezvous = allocate();
  *rendezvous = {send.bytes, process_.rank(), destination, &send, 0, 0, false, false, nullptr, 0, false};
  if (process_.library().protocol.rendezvous != "send") {
    register_buffer(self, send);
  }
  return rendezvous;
}

void RendezvousPath::begin(SimThread& self, Request& receive, const Envelope& envelope) {
  Rendezvous& rendezvous = *envelope.rendezvous;
  rendezvous.receive = &receive;
  receive.bytes = rendezvous.bytes;
  const std::string& protocol = process_.library().protocol.rendezvous;
  if (protocol != "send") {
    register_buffer(self, receive);
  }
  if (protocol == "get") {
    take(self, {RendezvousStep::Kind::transfer, Header::rendezvous, &rendezvous, rendezvous.bytes});
  } else {
    take(self, {RendezvousStep::Kind::message, Header::acknowledge, &rendezvous, 0});
  }
}

void RendezvousPath::go_on(SimThread& self, const Envelope& envelope) {
  Rendezvous& rendezvous = *envelope.rendezvous;
  switch (envelope.header) {
  case Header::acknowledge:
    if (process_.library().protocol.rendezvous == "put") {
      take(self, {RendezvousStep::Kind::transfer, Header::rendezvous, &rendezvous, rendezvous.bytes});
    } else {
      send_pieces(self, instance_for_reply(self, rendezvous), rendezvous);
    }
    break;
  case Header::fragment:
    process_.copy(self, envelope.bytes);
    if (process_.library().transport.handler_lock == "none") {
      self.settle(); // another thread may copy the piece that comes last
    }
    rendezvous.arrived += envelope.bytes;
    if (rendezvous.arrived == rendezvous.bytes) {
      finish_receive(self, rendezvous);
    }
    break;
  default: // finish: the other side knows that the payload is where it belongs
    finish(self, rendezvous);
    break;
  }
}

void RendezvousPath::transferred(SimThread& self, const Envelope& envelope) {
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
  take(self, {RendezvousStep::Kind::message, Header::finish, &rendezvous, 0});
}

/// Sends pieces as far as there is room and they may be under way. A message that has some left waits as one, not piece
/// by piece (mca_pml_ob1_send_request_schedule_once, MCA_PML_OB1_SEND_PENDING_SCHEDULE), unless connections have their
/// own lists. Returns whether one went out.
bool RendezvousPath::send_pieces(SimThread& self, const Instance& instance, Rendezvous& rendezvous) {
  const ProtocolDesign& protocol = process_.library().protocol;
  bool sent = false;
  while (!rendezvous.pieces_wait && rendezvous.handed_over < rendezvous.bytes &&
         rendezvous.pieces_under_way < protocol.pieces_under_way) {
    const std::int64_t bytes = std::min(protocol.piece_bytes, rendezvous.bytes - rendezvous.handed_over);
    const RendezvousStep piece{RendezvousStep::Kind::piece, Header::fragment, &rendezvous, bytes};
    const bool in_turn = waits_in_turn(instance, piece);
    bool room = in_turn || steps_.has_room_for(instance, piece);
    if (room) {
      rendezvous.handed_over += bytes;
      ++rendezvous.pieces_under_way;
      if (!process_.copied_by_transport()) {
        process_.copy(self, bytes); // into a buffer that the interface knows
      }
      if (in_turn) {
        take(self, piece);
      } else {
        self.settle();
        room = steps_.post(self, instance, piece);
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
void RendezvousPath::take(SimThread& self, const RendezvousStep& step) {
  self.settle();
  const Instance& instance = instance_for_reply(self, *step.rendezvous);
  const int number = instances_.number_of(instance);
  const int peer = steps_.peer_of(*step.rendezvous);
  const bool in_turn = waits_in_turn(instance, step);
  if (!(in_turn && queues_.others_wait_at(number, peer)) && steps_.post(self, instance, step)) {
    after_step(self, instance, step);
    return;
  }
  if (in_turn) {
    process_.update_shared(self, waiting_line_, Category::line_transfer);
    queues_.push(number, peer, {{}, false, step});
    turns_.end_rests(); // a resting thread would find it at the end of its turn
  } else {
    wait_for_room(self, step);
  }
}

void RendezvousPath::wait_for_room(SimThread& self, const RendezvousStep& step) {
  const Rendezvous& rendezvous = *step.rendezvous;
  process_.update_shared(self, waiting_line_, Category::line_transfer);
  waiting_[static_cast<std::size_t>(step.kind)]
      .by_connection[{number_of_instance(rendezvous), steps_.peer_of(rendezvous)}]
      .push_back(step);
  ++waiting_count_;
  turns_.end_rests(); // a resting thread would find it at the end of its turn
}

/// A thread in the middle of a poll under the lock answers where it polls: waiting for a second instance's lock could end in a
/// deadlock.
Instance& RendezvousPath::instance_for_reply(SimThread& self, const Rendezvous& rendezvous) {
  if (Instance* const held = instances_.held_by(self); held != nullptr) {
    return *held;
  }
  const int number = number_of_instance(rendezvous);
  return instances_[number >= 0 ? number : instances_.of_thread(self)];
}

/// The instance of the request where requests have one: the other side looks there. -1: threads choose.
int RendezvousPath::number_of_instance(const Rendezvous& rendezvous) const {
  const InstanceMapping& mapping = instances_.mapping();
  if (mapping.by_peer()) { // the request of a receive from anybody has none
    return mapping.of(0, 0, steps_.peer_of(rendezvous));
  }
  const Request& request = steps_.sends(rendezvous) ? *rendezvous.send : *rendezvous.receive;
  return mapping.decides() ? request.instance : -1;
}

/// Whether a step that finds no room waits behind the messages of its connection, and they behind it.
bool RendezvousPath::waits_in_turn(const Instance& instance, const RendezvousStep& step) const {
  return queues_.keep_order() && steps_.takes_turn(instance, step);
}

/// A side is done when the other one is told, so that no thread leaves the library with the message in its hands.
void RendezvousPath::after_step(SimThread& self, const Instance& instance, const RendezvousStep& step) {
  if (steps_.over_on_return(instance, step)) {
    take(self, {RendezvousStep::Kind::message, Header::finish, step.rendezvous, 0});
  } else if (step.header == Header::finish) {
    finish(self, *step.rendezvous);
  }
}

bool RendezvousPath::may_go() const {
  return waiting_count_ > 0 && std::any_of(waiting_.begin(), waiting_.end(), [&](const WaitingSteps& alike) {
           return std::any_of(alike.by_connection.begin(), alike.by_connection.end(),
                              [&](const auto& waiting) { return first_may_go(waiting.first.first, waiting.second); });
         });
}

/// Whether the first of these has room, at this instance or, with -1, at any.
bool RendezvousPath::first_may_go(int instance, const RingQueue<RendezvousStep>& waiting) const {
  if (waiting.empty() || instance >= 0) {
    return !waiting.empty() && steps_.has_room_for(instances_[instance], waiting.front());
  }
  return std::any_of(instances_.begin(), instances_.end(),
                     [&](const Instance& any) { return steps_.has_room_for(any, waiting.front()); });
}

/// Takes the steps that have room now, of each connection up to the first that has none. The rest waits without a try:
/// threads that queue for the lock in vain would keep a poll that tries a fair lock, and with it the completions that
/// make room, away for ever.
int RendezvousPath::run(SimThread& self) {
  int taken = 0;
  for (WaitingSteps& alike : waiting_) {
    auto& connections = alike.by_connection;
    auto next = connections.upper_bound(alike.tried_last);
    for (std::size_t left = connections.size(); left > 0; --left) {
      next = next == connections.end() ? connections.begin() : next;
      if (!next->second.empty()) {
        alike.tried_last = next->first;
        taken += retry(self, next->first.first, next->second);
      }
      ++next;
    }
  }
  return taken;
}

/// The steps that wait for one connection.
int RendezvousPath::retry(SimThread& self, int instance, RingQueue<RendezvousStep>& waiting) {
  int taken = 0;
  while (first_may_go(instance, waiting)) {
    const Instance& chosen = instances_[instance >= 0 ? instance : instances_.of_thread(self)];
    if (waiting.empty() || !steps_.has_room_for(chosen, waiting.front())) {
      break; // with instances that threads choose, perhaps at another one
    }
    process_.update_shared(self, waiting_line_, Category::line_transfer);
    if (waiting.empty()) {
      break; // another thread was faster
    }
    const RendezvousStep step = waiting.front();
    waiting.pop_front();
    --waiting_count_;
    if (step.kind == RendezvousStep::Kind::piece) {
      step.rendezvous->pieces_wait = false;
      const bool sent = send_pieces(self, chosen, *step.rendezvous);
      taken += sent ? 1 : 0;
      if (step.rendezvous->pieces_wait) {
        break;
      }
    } else if (steps_.post(self, chosen, step)) {
      after_step(self, chosen, step);
      ++taken;
    } else {
      process_.update_shared(self, waiting_line_, Category::line_transfer);
      waiting.push_front(step);
      ++waiting_count_;
      turns_.end_rests(); // of who found none while this one was tried
      break;
    }
  }
  return taken;
}

/// This side knows that the payload is where it belongs.
void RendezvousPath::finish(SimThread& self, Rendezvous& rendezvous) {
  if (steps_.sends(rendezvous)) {
    finish_send(self, rendezvous);
  } else {
    finish_receive(self, rendezvous);
  }
}

void RendezvousPath::finish_send(SimThread& self, Rendezvous& rendezvous) {
  rendezvous.sender_done = true;
  completion_.complete(self, *rendezvous.send);
}

void RendezvousPath::finish_receive(SimThread& self, Rendezvous& rendezvous) {
  rendezvous.receiver_done = true;
  completion_.complete(self, *rendezvous.receive);
}

} // namespace contend
