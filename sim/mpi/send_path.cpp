// From MPI_Isend to the doorbell.
#include "mpi/process.hpp"

#include <algorithm>
#include <functional>

namespace contend {

Request* Process::isend(SimThread& self, int communicator, int destination, int tag, std::int64_t bytes) {
  const TraceScope scope(self, rank_, "MPI_Isend");
  software(self, settings_.software.send_call);
  Communicator& comm = communicators_[static_cast<std::size_t>(communicator)];
  Envelope envelope{communicator, rank_, tag, 0, bytes};
  counters_.sent += tag >= 0 ? 1 : 0;
  if (comm.sequenced) {
    // The number is taken before the instance lock: threads that pass each other in between send out of sequence.
    PeerState& peer = comm.peers[static_cast<std::size_t>(destination)];
    peer.send_line->atomic(self, Category::line_transfer);
    envelope.sequence = peer.next_to_send++;
  }
  if (bytes > 0) {
    self.owe(copy_time(bytes), Category::copy);
  }
  const int instance = assignment_->pick(self);
  Instance& chosen = instances_[static_cast<std::size_t>(instance)];
  chosen.lock->lock(self);
  const bool in_turn = !settings_.library.matching.ordered_by_transport() || delayed_.empty();
  const bool sent = in_turn && chosen.endpoints[static_cast<std::size_t>(destination)]->post(
                                   self, envelope, settings_.library.protocol.header_bytes + bytes);
  chosen.lock->unlock(self);
  const bool inlined = bytes <= settings_.library.protocol.inline_limit_bytes;
  if (sent && inlined) {
    return nullptr; // complete on return, without a request object
  }
  self.owe(settings_.software.send_request, Category::software);
  Request* request = new_request(self);
  if (sent) {
    request->complete = true; // the payload is in a bounce buffer
    return request;
  }
  send_or_delay(self, instance, destination, envelope, request);
  return request;
}

/// The slow path, with a request: one more attempt, then the list of delayed sends.
void Process::send_or_delay(SimThread& self, int instance, int destination, const Envelope& envelope,
                            Request* request) {
  const DelayedSend send{instance, destination, envelope, request};
  const bool in_turn = !settings_.library.matching.ordered_by_transport() || delayed_.empty();
  if (in_turn && try_send(self, send, nullptr)) {
    return;
  }
  ++counters_.delayed_sends;
  delayed_lock_->lock(self);
  delayed_.push_back(send);
  show_length(delayed_label_, static_cast<std::int64_t>(delayed_.size()));
  idle_.disturb(); // a resting owner would find it at the end of its turn
  delayed_lock_->unlock(self);
}

/// Posts if there is room, and polls the instance in any case to make room (as btl/uct does in the same critical
/// section). Returns whether the message is out; `attempt`, if any, is told what happened.
bool Process::try_send(SimThread& self, const DelayedSend& send, Attempt* attempt) {
  Instance& instance = instances_[static_cast<std::size_t>(send.instance)];
  const TimePoint start = self.now();
  const SimThread::Times times_before = self.times();
  const auto times_since = [&] {
    SimThread::Times times = self.times();
    std::transform(times.begin(), times.end(), times_before.begin(), times.begin(), std::minus<>());
    return times;
  };
  instance.lock->lock(self);
  const bool sent = instance.endpoints[static_cast<std::size_t>(send.destination)]->post(
      self, send.envelope, settings_.library.protocol.header_bytes + send.envelope.bytes);
  instance.context->look(self);
  const Duration look_at = self.now() - start;
  const SimThread::Times until_look = attempt != nullptr ? times_since() : SimThread::Times{};
  const int found = instance.context->drain(self, *this);
  instance.lock->unlock(self);
  if (attempt != nullptr) {
    attempt->turn.visits.assign(1, {instance.lock.get(), Duration{}, look_at});
    attempt->turn.undisturbed = found == 0 && !sent;
    attempt->turn.period = self.now() - start;
    attempt->until_look = until_look;
    attempt->whole = times_since();
  }
  if (sent) {
    complete(self, *send.request);
  }
  return sent;
}

/// Tries every delayed send once. What fails goes back to the list, by the design's rule. Returns how many went out.
int Process::retry_delayed_sends(SimThread& self) {
  delayed_lock_->lock(self);
  int handled = 0;
  std::size_t failed = 0; // the first `failed` entries have had their turn
  std::size_t next = 0;
  std::size_t alike_end = 0; // entries from `next` to here wait for the same connection
  const auto keep = [&](std::size_t count) {
    if (failed < next) { // something has left
      std::move(delayed_.begin() + static_cast<std::ptrdiff_t>(next),
                delayed_.begin() + static_cast<std::ptrdiff_t>(next + count),
                delayed_.begin() + static_cast<std::ptrdiff_t>(failed));
    }
    failed += count;
    next += count;
  };
  while (next < delayed_.size()) {
    if (try_send(self, delayed_[next], &attempt_)) {
      ++next;
      ++handled;
    } else if (settings_.library.matching.ordered_by_transport()) {
      keep(delayed_.size() - next); // none may pass another
    } else {
      const DelayedSend failing = delayed_[next];
      keep(1);
      // Only those that wait for the same connection are bound to fail as well.
      if (alike_end <= next) {
        alike_end = next;
        while (alike_end < delayed_.size() && delayed_[alike_end].instance == failing.instance &&
               delayed_[alike_end].destination == failing.destination) {
          ++alike_end;
        }
      }
      keep(skip_failing_attempts(self, alike_end - next, handled));
    }
  }
  delayed_.resize(failed);
  show_length(delayed_label_, static_cast<std::int64_t>(failed));
  if (settings_.library.protocol.pending_order == "reversing") {
    // Each failed entry was removed and put in front of those that failed before it.
    std::reverse(delayed_.begin(), delayed_.end());
  }
  delayed_lock_->unlock(self);
  return handled;
}

/// After a failed attempt: while nothing changes, the next ones fail as well. Lets their time pass at once and returns
/// how many there were, at most `remaining`.
std::size_t Process::skip_failing_attempts(SimThread& self, std::size_t remaining, int& handled) {
  self.settle();
  const bool quiet = std::none_of(instances_.begin(), instances_.end(),
                                  [](const Instance& instance) { return instance.context->has_completions(); });
  const IdlePoll::Resumption resumption = idle_.rest(self, attempt_.turn, quiet, static_cast<std::int64_t>(remaining));
  // Resting is charged to poll_idle; the attempts would have been charged to what they do.
  for (std::size_t i = 0; i < category_count; ++i) {
    const auto category = static_cast<Category>(i);
    if (category != Category::poll_idle) {
      self.reclassify(attempt_.whole[i] * resumption.turns + (resumption.inside ? attempt_.until_look[i] : Duration{}),
                      Category::poll_idle, category);
    }
  }
  auto skipped = static_cast<std::size_t>(resumption.turns);
  if (resumption.inside && resumption.looking) { // this attempt's post has failed already
    Instance& instance = instance_of(*attempt_.turn.visits.front().lock);
    handled += instance.context->drain(self, *this);
    instance.lock->unlock(self);
    ++skipped;
  }
  return skipped;
}

} // namespace contend
