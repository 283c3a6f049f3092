// From MPI_Isend to the doorbell.
#include "core/trace_scope.hpp"
#include "mpi/process.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace contend {

Request* Process::isend(SimThread& self, int communicator, int destination, int tag, std::int64_t bytes) {
  const TraceScope scope(self, rank_, "MPI_Isend");
  if (destination < 0 || destination >= peers_) {
    throw std::invalid_argument(name() + " sends to rank " + std::to_string(destination) + " of " +
                                std::to_string(peers_));
  }
  if (commands_) {
    return submit(self, {Command::Kind::send, communicator, destination, tag, bytes, nullptr});
  }
  enter_call(self);
  Request* const request = start_send(self, communicator, destination, tag, bytes, nullptr);
  leave_call(self);
  return request;
}

Request* Process::start_send(SimThread& self, int communicator, int destination, int tag, std::int64_t bytes,
                             Request* handle) {
  const bool to_self = destination == rank_;
  const bool call_holds = calls_hold_instance_ && !to_self;
  int instance = 0;
  if (call_holds) {
    instance = instance_for(self, communicator, tag, destination);
    send_lock_of(instances_[static_cast<std::size_t>(instance)], destination).lock(self);
  }
  software(self, settings_.software.send_call);
  count_reference(self, communicator);
  Communicator& comm = communicators_[static_cast<std::size_t>(communicator)];
  Envelope envelope{communicator, rank_, tag, 0, bytes};
  counters_.sent += tag >= 0 ? 1 : 0;
  if (comm.sequenced) {
    // The number is taken before the instance lock: threads that pass each other in between send out of sequence.
    PeerState& peer = comm.peers[static_cast<std::size_t>(destination)];
    update_shared(self, *peer.send_line, Category::line_transfer);
    envelope.sequence = peer.next_to_send++;
  }
  if (to_self) {
    copy(self, bytes);
    return deliver_to_self(self, envelope, handle);
  }
  const bool eager = bytes <= settings_.library.protocol.eager_limit_bytes;
  Request* request = eager ? handle : announce(self, envelope, destination, handle);
  if (!call_holds) {
    instance = instance_for(self, communicator, tag, destination);
  }
  Lock& lock = send_lock_of(instances_[static_cast<std::size_t>(instance)], destination);
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
  if (call_holds) {
    lock.unlock(self);
  }
  if (!sent) {
    if (is_packed(envelope)) {
      copy(self, bytes);
    }
    send_or_delay(self, instance, destination, envelope, request);
  }
  return request;
}

/// The fast path, under the lock that senders hold: payload is packed into a buffer of the interface where there is room for the
/// message (mca_btl_uct_sendi, mca_btl_openib_sendi). What finds none is packed without the lock.
bool Process::post_at_once(SimThread& self, int instance, int destination, const Envelope& envelope) {
  Connection& connection = connection_to(instances_[static_cast<std::size_t>(instance)], destination);
  if (behind_others(instance, destination)) {
    return false;
  }
  if (is_packed(envelope) && connection.has_room(wire_bytes(envelope))) {
    copy(self, envelope.bytes);
  }
  return connection.post(self, envelope, wire_bytes(envelope));
}

/// The request of a message that was posted, or could not be. None if it is complete on return.
Request* Process::finish_eager(SimThread& self, const Envelope& envelope, int instance, Request* handle, bool sent) {
  const bool inlined = envelope.bytes <= settings_.library.protocol.inline_limit_bytes;
  if (sent && inlined) {
    if (handle != nullptr) {
      complete(self, *handle);
    } else {
      count_reference(self, envelope.communicator);
    }
    return handle;
  }
  self.owe(settings_.software.send_request, Category::software);
  Request* request = handle;
  if (handle == nullptr) {
    request = new_request(self, mapping_.decides() ? instance : -1);
    request->communicator = envelope.communicator;
  }
  if (sent && handle != nullptr) { // the payload is in a bounce buffer
    complete(self, *handle);
  } else if (sent) {
    request->complete = true;
    engine_.note_operation();
    progress_->completed_unwatched(self);
  }
  return request;
}

/// A message to the own rank goes to the receiving side at once, without the interface and whatever its size (as btl/self
/// does).
Request* Process::deliver_to_self(SimThread& self, const Envelope& envelope, Request* handle) {
  const int guard = guarded_by_instance_ ? mapping_.of(envelope.communicator, envelope.tag, rank_) : every_instance;
  lock_guards(self, guard);
  receive(self, envelope);
  unlock_guards(self, guard);
  if (handle != nullptr) {
    complete(self, *handle);
  } else {
    count_reference(self, envelope.communicator);
  }
  return handle;
}

/// Makes `envelope` that of a message above the eager limit, and returns the request of its sender.
Request* Process::announce(SimThread& self, Envelope& envelope, int destination, Request* handle) {
  Request* request = handle;
  if (handle == nullptr) {
    request = new_request(self, mapping_.of_request(Direction::send, envelope.communicator, envelope.tag, destination));
    request->owner = self.id();
  }
  request->communicator = envelope.communicator;
  request->bytes = envelope.bytes;
  self.owe(settings_.software.send_request, Category::software);
  envelope.header = Header::rendezvous;
  envelope.rendezvous = new_rendezvous();
  *envelope.rendezvous = {envelope.bytes, rank_, destination, request, 0, 0, false, false, nullptr, 0, false};
  if (settings_.library.protocol.rendezvous != "send") {
    register_buffer(self, *request);
  }
  return request;
}

std::int64_t Process::wire_bytes(const Envelope& envelope) const {
  const bool carries_payload = envelope.header == Header::eager || envelope.header == Header::active;
  return settings_.library.protocol.header_bytes + (carries_payload ? envelope.bytes : 0);
}

/// Whether a message must not pass those that have no room.
bool Process::behind_others(int instance, int destination) const {
  if (behind_others_) {
    return others_wait_at(instance, destination);
  }
  return !delayed_.empty() && settings_.library.matching.ordered_by_transport();
}

bool Process::others_wait_at(int instance, int destination) const {
  if (!behind_others_) {
    return false;
  }
  const auto waiting = at_connection_.find({instance, destination});
  return waiting != at_connection_.end() && !waiting->second.empty();
}

void Process::wait_at_connection(int instance, int destination, const WaitingAtConnection& waiting) {
  at_connection_[{instance, destination}].push_back(waiting);
  instances_[static_cast<std::size_t>(instance)].waiting_without_memory += waiting.kept ? 0 : 1;
}

/// The slow path, with a request: one more attempt, then the list of delayed sends.
void Process::send_or_delay(SimThread& self, int instance, int destination, const Envelope& envelope,
                            Request* request) {
  const DelayedSend send{instance, destination, envelope, request};
  if (tries_in_call_) {
    send_in_call(self, send);
    return;
  }
  const bool must_wait = wait_at_connection_ || behind_others(instance, destination);
  if (!must_wait && try_send(self, send, nullptr)) {
    return;
  }
  ++counters_.delayed_sends;
  delayed_lock_->lock(self);
  if (wait_at_connection_) {
    const Instance& chosen = instances_[static_cast<std::size_t>(instance)];
    // What came before and found no memory is given what comes back first: kept behind it, this message would hold what
    // it waits for.
    const bool kept =
        chosen.waiting_without_memory == 0 && connection_to(chosen, destination).keep(self, wire_bytes(envelope));
    wait_at_connection(instance, destination, {send, kept, {}});
  } else {
    delayed_.push_back(send);
  }
  show_delayed_sends();
  end_rests(); // a resting thread would find it at the end of its turn
  delayed_lock_->unlock(self);
}

/// Makes progress and tries again until there is room (MPIDI_OFI_CALL_RETRY of MPICH). The turn waits for the lock of the
/// message's own interface, or threads that queue for it would keep turns from making room. Another thread's message may go first.
void Process::send_in_call(SimThread& self, const DelayedSend& send) {
  ++counters_.delayed_sends;
  Instance& instance = instances_[static_cast<std::size_t>(send.instance)];
  Connection& connection = connection_to(instance, send.destination);
  Lock& lock = send_lock_of(instance, send.destination);
  Poller& poller = poller_of(self);
  poller.testing = true;
  poller.in_section = global_lock_ != nullptr;
  bool sent = false;
  while (!sent) {
    begin_turn(self, Noise::always);
    poll(self, send.instance, IfHeld::wait);
    for (int target = 0; target < targets(); ++target) {
      if (target != send.instance) {
        poll(self, target, IfHeld::skip);
      }
    }
    end_turn(self);
    lock.lock(self);
    sent = connection.post(self, send.envelope, wire_bytes(send.envelope));
    lock.unlock(self);
  }
  poller.testing = false;
  poller.in_section = false;
  stop(self);
  if (send.envelope.header == Header::eager) {
    complete(self, *send.request);
  }
}

/// Posts if there is room, and polls the instance in any case to make room (as btl/uct does in the same critical
/// section). Where connections have locks the post is under that one as well, which other senders hold and not the
/// instance's. Returns whether the message is out; `attempt`, if any, is told what happened.
bool Process::try_send(SimThread& self, const DelayedSend& send, Attempt* attempt) {
  Instance& instance = instances_[static_cast<std::size_t>(send.instance)];
  const TimePoint start = self.now();
  if (attempt != nullptr) {
    attempt->turn.start(self);
    attempt->at_start = self.times_of_all();
  }
  Lock& send_lock = send_lock_of(instance, send.destination);
  const bool own_lock = &send_lock != instance.lock.get();
  const bool locked = attempt != nullptr && std::exchange(attempt->locked, false);
  if (!locked) {
    instance.lock->lock(self);
  }
  if (own_lock) {
    send_lock.lock(self);
  }
  const Duration locked_at = self.now() - start;
  if (attempt != nullptr) {
    attempt->at_lock = self.times_of_all();
  }
  Connection& connection = connection_to(instance, send.destination);
  const bool sent = connection.post(self, send.envelope, wire_bytes(send.envelope));
  if (own_lock) {
    send_lock.unlock(self);
  }
  const Duration begin_at = self.now() - start;
  instance.context->look(self);
  const Duration look_at = self.now() - start;
  if (attempt != nullptr) {
    attempt->at_look = self.times_of_all();
  }
  const int found = instance.context->drain(self, *this);
  instance.lock->unlock(self);
  if (attempt != nullptr) {
    const Duration room_at = sent ? locked_at : std::max(locked_at, connection.saw_no_room_at() - start);
    attempt->turn.visits.push_back({instance.lock.get(), Duration{}, locked_at, locked_at});
    attempt->turn.visits.push_back({instance.lock.get(), locked_at, room_at, room_at});
    attempt->turn.visits.push_back(
        {instance.lock.get(), room_at, look_at, self.now() - start, send.instance, begin_at});
    // A rest would not see who is at the connection, and half an attempt is not like a whole one.
    attempt->turn.undisturbed = found == 0 && !sent && !own_lock && !locked && instance.lock->can_be_visited_by_lock();
    attempt->turn.period = self.now() - start;
  }
  if (sent && send.envelope.header == Header::eager) {
    complete(self, *send.request);
  }
  return sent;
}

void Process::show_delayed_sends() const {
  if (engine_.trace() == nullptr) [[likely]] {
    return;
  }
  std::size_t count = delayed_.size();
  for (const auto& [connection, sends] : at_connection_) {
    count += sends.size();
  }
  show_length(delayed_label_, static_cast<std::int64_t>(count));
}

/// Whether a turn of progress has delayed sends to look at.
bool Process::delayed_sends_may_go() const {
  return !delayed_.empty() || std::any_of(at_connection_.begin(), at_connection_.end(), [&](const auto& waiting) {
    const auto [instance, destination] = waiting.first;
    return !waiting.second.empty() &&
           may_go(instances_[static_cast<std::size_t>(instance)], destination, waiting.second.front());
  });
}

bool Process::may_go(const Instance& instance, int destination, const WaitingAtConnection& waiting) const {
  if (waiting.step) {
    return has_room_for(instance, *waiting.step);
  }
  const Connection& connection = connection_to(instance, destination);
  return waiting.kept ? connection.has_room_for_kept() : connection.has_room(wire_bytes(waiting.send.envelope));
}

bool Process::try_to_go(SimThread& self, Instance& instance, int destination, const WaitingAtConnection& waiting) {
  if (waiting.step) {
    return try_step(self, instance, *waiting.step);
  }
  Connection& connection = connection_to(instance, destination);
  const Envelope& envelope = waiting.send.envelope;
  return waiting.kept
             ? connection.post_kept(self, envelope, envelope.header == Header::eager ? waiting.send.request : nullptr)
             : connection.post(self, envelope, wire_bytes(envelope));
}

/// What the transport keeps is complete when its memory comes back.
void Process::gone(SimThread& self, const Instance& instance, const WaitingAtConnection& waiting) {
  if (waiting.step) {
    after_step(self, instance, *waiting.step);
  } else if (!waiting.kept && waiting.send.envelope.header == Header::eager) {
    complete(self, *waiting.send.request);
  }
  self.settle();
}

void Process::returned(SimThread& self, void* token) { complete(self, *static_cast<Request*>(token)); }

/// Sends what waits at connections that have room again, as far as the room goes (progress_no_credits_pending_frags in
/// btl/openib).
int Process::send_where_there_is_room(SimThread& self) {
  int handled = 0;
  for (auto& [connection, queue] : at_connection_) {
    const auto [number, destination] = connection;
    Instance& instance = instances_[static_cast<std::size_t>(number)];
    if (queue.empty() || !may_go(instance, destination, queue.front())) {
      continue;
    }
    Lock& lock = send_lock_of(instance, destination);
    lock.lock(self);
    while (!queue.empty()) {
      const WaitingAtConnection next = queue.front(); // others may queue up while it is tried
      if (!try_to_go(self, instance, destination, next)) {
        break;
      }
      queue.pop_front();
      instance.waiting_without_memory -= next.kept ? 0 : 1;
      ++handled;
      gone(self, instance, next);
    }
    lock.unlock(self);
  }
  return handled;
}

/// Tries every delayed send once. What fails goes back to the list, by the design's rule. Returns how many went out.
int Process::retry_delayed_sends(SimThread& self) {
  delayed_lock_->lock(self);
  if (wait_at_connection_) {
    const int sent = send_where_there_is_room(self);
    show_delayed_sends();
    delayed_lock_->unlock(self);
    return sent;
  }
  int handled = 0;
  std::size_t next = 0;      // those before have had their turn, and failed
  std::size_t alike_end = 0; // from `next` to here they wait for the same connection
  while (next < delayed_.size()) {
    if (try_send(self, delayed_[next], &attempt_)) {
      delayed_.erase(next);
      alike_end -= alike_end > next ? 1 : 0;
      ++handled;
    } else if (settings_.library.matching.ordered_by_transport()) {
      break; // none may pass another
    } else {
      // Only those that wait for the same connection are bound to fail as well.
      alike_end = alike_end > next ? alike_end : delayed_.end_of_connection(next);
      ++next;
      next += skip_failing_attempts(self, next, alike_end, handled);
    }
  }
  show_delayed_sends();
  if (settings_.library.protocol.pending_order == "reversing") {
    // Each failed entry was removed and put in front of those that failed before it.
    delayed_.reverse();
  }
  delayed_lock_->unlock(self);
  return handled;
}

/// Whether one of the delayed sends at these places, which wait for the same connection, would go now. An interface has room for
/// messages of any size, or for none.
bool Process::finds_room(std::size_t begin, std::size_t end) const {
  const std::size_t last = copied_by_transport_ ? end : std::min(end, begin + 1);
  for (std::size_t place = begin; place < last; ++place) {
    const DelayedSend& send = delayed_[place];
    const Connection& connection = connection_to(instances_[static_cast<std::size_t>(send.instance)], send.destination);
    if (connection.has_room(wire_bytes(send.envelope))) {
      return true;
    }
  }
  return false;
}

/// After a failed attempt: while nothing changes, the next ones, from `begin` to before `end`, fail as well. Lets their time pass at
/// once and returns how many there were.
std::size_t Process::skip_failing_attempts(SimThread& self, std::size_t begin, std::size_t end, int& handled) {
  self.settle();
  // The peer may have made room since the failed attempt looked for it.
  const bool quiet = !finds_room(begin, end) &&
                     std::none_of(instances_.begin(), instances_.end(),
                                  [](const Instance& instance) { return instance.context->has_completions(); });
  const Duration idle_before = self.charged(Category::poll_idle);
  const IdlePoll::Resumption resumption =
      idle_of(poller_of(self))
          .rest(self, attempt_.turn, attempt_.last_turn, quiet, static_cast<std::int64_t>(end - begin));
  // Resting is charged to poll_idle; the attempts would have been charged to what they do.
  for (std::size_t i = 0; i < category_count && (resumption.turns > 0 || resumption.inside); ++i) {
    const auto category = static_cast<Category>(i);
    if (category != Category::poll_idle) {
      const Duration whole = self.times_of_all()[i] - attempt_.at_start[i]; // resting has not touched it
      self.reclassify(whole * resumption.turns +
                          (resumption.inside ? attempt_.until(resumption.visit, category) : Duration{}),
                      Category::poll_idle, category, idle_before);
    }
  }
  auto skipped = static_cast<std::size_t>(resumption.turns);
  if (resumption.inside && resumption.visit != Attempt::at_poll) {
    attempt_.locked = true;
    if (resumption.visit == Attempt::at_room) {
      const DelayedSend& send = delayed_[begin + skipped];
      connection_to(instances_[static_cast<std::size_t>(send.instance)], send.destination).look_is_under_way();
    }
  } else if (resumption.inside && resumption.looking) { // this attempt's post has failed already
    const PollTurn::Visit& visit = attempt_.turn.visits[Attempt::at_poll];
    Instance& instance = instance_of(*visit.lock);
    instance.context->skipped_look(self, engine_.now() - (visit.look_at - visit.begin_at));
    handled += instance.context->drain(self, *this);
    instance.lock->unlock(self);
    ++skipped;
  }
  return skipped;
}

} // namespace contend
