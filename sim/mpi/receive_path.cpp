// From MPI_Irecv and an arriving message to a complete request.
#include "core/trace_scope.hpp"
#include "models/matching/active_message.hpp"
#include "mpi/process.hpp"

#include <algorithm>
#include <stdexcept>

namespace contend {

Request* Process::irecv(SimThread& self, int communicator, int source, int tag, std::int64_t bytes) {
  const TraceScope scope(self, rank_, "MPI_Irecv");
  if (mapping_.by_tag() && tag == any_tag) {
    throw std::invalid_argument(name() + " receives with any tag, but tags decide on the instance");
  }
  if (commands_) {
    return submit(self, {Command::Kind::receive, communicator, source, tag, bytes, nullptr});
  }
  enter_call(self);
  if (calls_hold_instance_) {
    lock_guards(self, mapping_.of_receive(communicator, tag, source));
  }
  software(self, settings_.software.receive_call);
  count_reference(self, communicator);
  Request* const request = new_request(self, mapping_.of_request(Direction::receive, communicator, tag, source));
  request->owner = self.id();
  start_receive(self, *request, communicator, source, tag, bytes, calls_hold_instance_);
  leave_call(self);
  return request;
}

void Process::start_receive(SimThread& self, Request& request, int communicator, int source, int tag,
                            std::int64_t bytes, bool has_lock) {
  if (commands_) {
    software(self, settings_.software.receive_call);
    count_reference(self, communicator);
  }
  request.communicator = communicator;
  request.source = source;
  request.tag = tag;
  request.bytes = bytes;
  counters_.posted += tag >= 0 || tag == any_tag ? 1 : 0;

  MatchingDomain& domain = domain_of(communicators_[static_cast<std::size_t>(communicator)], tag);
  const int guard = mapping_.of_receive(communicator, tag, source);
  if (!has_lock) {
    lock_guards(self, guard);
  }
  lock_queues(self, domain);
  const std::optional<Envelope> message = domain.matcher->post(self, request);
  show_matching(domain);
  counters_.unexpected_in_queue -= message && message->tag >= 0 ? 1 : 0;
  unlock_queues(self, domain);
  const bool is_announced = message && message->header == Header::rendezvous; // its answer takes locks
  const bool ends_under_lock = calls_hold_instance_ && !is_announced;
  if (!ends_under_lock) {
    unlock_guards(self, guard);
  }
  if (message) {
    show_match(self, *message);
    counters_.received += message->tag >= 0 ? 1 : 0;
    request.received_tag = message->tag;
    if (is_announced) {
      begin_rendezvous(self, request, *message);
    } else {
      request.bytes = message->bytes;
      copy(self, message->bytes);
      complete(self, request);
    }
  }
  if (ends_under_lock) {
    unlock_guards(self, guard);
  }
}

/// The interface has a message, before any thread sees it.
HardwareMatcher::Time Process::arrived(Envelope& envelope) {
  if (envelope.header != Header::eager && envelope.header != Header::rendezvous) {
    return {}; // about a message that has been matched
  }
  const Communicator& communicator = communicators_[static_cast<std::size_t>(envelope.communicator)];
  const MatchingDomain& domain = domain_of(communicator, envelope.tag);
  HardwareMatcher* const hardware = domain.matcher->hardware();
  if (hardware == nullptr || communicator.sequenced) {
    return {}; // the interface does not know sequence numbers: messages that have them go to software
  }
  const HardwareMatcher::Time time = hardware->reach(envelope);
  if (envelope.matched != nullptr) {
    show_matching(domain);
  }
  return time;
}

/// Delivery of one arrived message; unless the design handles without it, the polling thread holds the lock of the instance it
/// came from.
void Process::receive(SimThread& self, const Envelope& envelope) {
  show_found(self, envelope.number);
  if (settings_.library.tasks.matching && envelope.matched == nullptr &&
      (envelope.header == Header::eager || envelope.header == Header::rendezvous)) {
    receive_later(self, envelope);
  } else {
    receive_now(self, envelope);
  }
}

void Process::receive_now(SimThread& self, const Envelope& envelope) {
  const TraceScope scope(self, rank_, "deliver");
  self.owe(settings_.software.deliver, Category::software);
  if (envelope.header == Header::active) {
    self.settle();
    if (envelope.active != nullptr) {
      envelope.active->arrived(self);
      return;
    }
    ++active_received_[static_cast<std::size_t>(envelope.source)];
    engine_.note_operation();
    return;
  }
  if (envelope.header != Header::eager && envelope.header != Header::rendezvous) {
    continue_rendezvous(self, envelope);
    return;
  }
  if (envelope.matched != nullptr) {
    take_message(self, static_cast<Request&>(*envelope.matched), envelope);
    return;
  }
  Communicator& communicator = communicators_[static_cast<std::size_t>(envelope.communicator)];
  PeerState& peer = communicator.peers[static_cast<std::size_t>(envelope.source)];
  MatchingDomain& domain = domain_of(communicator, envelope.tag);

  lock_queues(self, domain);
  if (communicator.sequenced) {
    if (envelope.sequence != peer.expected) {
      keep_for_later(self, peer, envelope);
      unlock_queues(self, domain);
      return;
    }
    ++peer.expected;
  }
  match(self, communicator, envelope); // unlocks

  // The message may have been what others were waiting for.
  while (!peer.out_of_sequence.empty()) {
    lock_queues(self, domain);
    const std::optional<Envelope> next = peer.out_of_sequence.take(peer.expected);
    if (!next) {
      unlock_queues(self, domain);
      break;
    }
    ++peer.expected;
    counters_.oos_in_queue -= next->tag >= 0 ? 1 : 0;
    show_length(out_of_sequence_label_, counters_.oos_in_queue);
    match(self, communicator, *next);
  }
}

/// Matches a message in sequence. Called with the matching lock held; releases it.
void Process::match(SimThread& self, Communicator& communicator, const Envelope& envelope) {
  MatchingDomain& domain = domain_of(communicator, envelope.tag);
  const Duration waited = self.charged(Category::lock_wait);
  const TimePoint start = self.now();
  PostedReceive* const receive = domain.matcher->arrive(self, envelope);
  show_matching(domain);
  if (envelope.tag >= 0) {
    counters_.match_time += self.now() - start - (self.charged(Category::lock_wait) - waited);
    if (receive == nullptr) {
      ++counters_.unexpected;
      counters_.unexpected_in_queue_max = std::max(counters_.unexpected_in_queue_max, ++counters_.unexpected_in_queue);
    }
  }
  if (receive == nullptr && !envelope.kept) {
    keep_payload(self, envelope);
  }
  unlock_queues(self, domain);
  if (receive != nullptr) {
    take_message(self, static_cast<Request&>(*receive), envelope);
    if (envelope.kept) {
      self.owe(settings_.matching.fragment_release, Category::out_of_sequence);
    }
  }
}

/// A posted receive has its message. Nobody holds the matching lock any more.
void Process::take_message(SimThread& self, Request& request, const Envelope& envelope) {
  show_match(self, envelope);
  request.received_tag = envelope.tag;
  counters_.received += envelope.tag >= 0 ? 1 : 0;
  if (envelope.header == Header::rendezvous) {
    begin_rendezvous(self, request, envelope);
    return;
  }
  request.bytes = envelope.bytes;
  if (envelope.bytes > 0) {
    copy(self, envelope.bytes);
  }
  complete(self, request);
}

/// The transport wants its buffer back before a receive is known: the payload waits in memory of the library
/// (MCA_PML_OB1_RECV_FRAG_INIT copies it under the matching lock).
void Process::keep_payload(SimThread& self, const Envelope& envelope) {
  if (envelope.header == Header::eager) {
    copy(self, envelope.bytes);
  }
}

void Process::keep_for_later(SimThread& self, PeerState& peer, const Envelope& envelope) {
  keep_payload(self, envelope);
  self.owe(settings_.matching.fragment_allocate, Category::out_of_sequence);
  Envelope fragment = envelope;
  fragment.kept = true;
  const std::int64_t visited = peer.out_of_sequence.insert(fragment, peer.expected);
  QueueWalk walk(host_, settings_.matching.range, self.core());
  walk.visit(visited);
  const auto first_ones = static_cast<std::int64_t>(peer.out_of_sequence.ranges()); // the walk sees nothing else
  self.owe(settings_.matching.enqueue + walk.price(first_ones * settings_.matching.fragment_bytes),
           Category::out_of_sequence);
  if (envelope.tag >= 0) {
    counters_.oos_ranges_visited += visited;
    ++counters_.out_of_sequence;
    counters_.oos_in_queue_max = std::max(counters_.oos_in_queue_max, ++counters_.oos_in_queue);
    show_length(out_of_sequence_label_, counters_.oos_in_queue);
  }
}

void Process::complete(SimThread& self, Request& request) {
  self.owe(settings_.software.complete, Category::completion);
  fetch_request(self, request, settings_.library.lines.completion, Category::completion);
  if (request.sync == nullptr) {
    self.settle(); // somebody may begin to wait meanwhile
  }
  // One swap: who takes the sync object away from now on finds that the request is complete, and waits for the update.
  SyncObject* const sync = request.sync;
  request.complete = true;
  request.completed_on = self.core();
  request.held_by = self.core();
  engine_.note_operation();
  if (sync == nullptr) {
    if (polling_requests_ > 0) {
      end_rests(); // a thread may be looking at it
    }
    progress_->completed_unwatched(self);
    return;
  }
  if (UserSync* const user = request.user_sync; user != nullptr) {
    update_shared(self, user->list_, Category::completion);
    user->completed_.push_back(&request);
  }
  notification_->publish(self, *sync);
  if (--sync->pending == 0) {
    progress_->completed(self, *sync);
  } else {
    progress_->advanced(self, *sync);
  }
}

} // namespace contend
