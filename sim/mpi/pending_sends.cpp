#include "mpi/pending_sends.hpp"

#include <algorithm>
#include <utility>

namespace contend {

PendingSends::PendingSends(ProcessContext& process, Instances& instances, ProgressTurns& turns,
                           CompletionPath& completion, ConnectionQueues& queues, CompletionHandler& handler)
    : process_(process), instances_(instances), turns_(turns), completion_(completion), queues_(queues),
      handler_(handler),
      at_connection_(queues.keep_order() || process.library().protocol.pending_order == "at-connection"),
      in_call_(process.library().protocol.pending_order == "in-call"),
      lock_(process.make_inner_lock(process.library().instances.lock, process.name() + "/delayed sends")),
      label_(process.name() + "/delayed sends", process.rank()) {}

bool PendingSends::behind_others(int instance, int destination) const {
  if (queues_.keep_order()) {
    return queues_.others_wait_at(instance, destination);
  }
  return !delayed_.empty() && process_.library().matching.ordered_by_transport();
}

/// The slow path, with a request: one more attempt, then the list of delayed sends.
void PendingSends::add(SimThread& self, const DelayedSend& send) {
  if (in_call_) {
    send_in_call(self, send);
    return;
  }
  const bool must_wait = at_connection_ || behind_others(send.instance, send.destination);
  if (!must_wait && try_send(self, send, nullptr)) {
    return;
  }
  ++process_.counters().delayed_sends;
  lock_->lock(self);
  if (at_connection_) {
    const Instance& chosen = instances_[send.instance];
    // What came before and found no memory is given what comes back first: kept behind it, this message would hold what
    // it waits for.
    const bool kept = chosen.waiting_without_memory == 0 &&
                      chosen.connection_to(send.destination).keep(self, process_.wire_bytes(send.envelope));
    queues_.push(send.instance, send.destination, {send, kept, {}});
  } else {
    delayed_.push_back(send);
  }
  show();
  turns_.end_rests(); // a resting thread would find it at the end of its turn
  lock_->unlock(self);
}

/// Makes progress and tries again until there is room (MPIDI_OFI_CALL_RETRY of MPICH). The turn waits for the lock of the
/// message's own interface, or threads that queue for it would keep turns from making room. Another thread's message may go first.
void PendingSends::send_in_call(SimThread& self, const DelayedSend& send) {
  ++process_.counters().delayed_sends;
  const Instance& instance = instances_[send.instance];
  Connection& connection = instance.connection_to(send.destination);
  Lock& lock = instance.send_lock(send.destination);
  Poller& poller = turns_.poller_of(self);
  poller.testing = true;
  poller.in_section = process_.global_lock() != nullptr;
  bool sent = false;
  while (!sent) {
    turns_.begin_turn(self, ProgressSource::Noise::always);
    turns_.poll(self, send.instance, ProgressSource::IfHeld::wait);
    for (int target = 0; target < turns_.targets(); ++target) {
      if (target != send.instance) {
        turns_.poll(self, target, ProgressSource::IfHeld::skip);
      }
    }
    turns_.end_turn(self);
    lock.lock(self);
    sent = connection.post(self, send.envelope, process_.wire_bytes(send.envelope));
    lock.unlock(self);
  }
  poller.testing = false;
  poller.in_section = false;
  turns_.stop(self);
  if (send.envelope.header == Header::eager) {
    completion_.complete(self, *send.request);
  }
}

/// Posts if there is room, and polls the instance in any case to make room (as btl/uct does in the same critical
/// section). Where connections have locks the post is under that one as well, which other senders hold and not the
/// instance's. Returns whether the message is out; `attempt`, if any, is told what happened.
bool PendingSends::try_send(SimThread& self, const DelayedSend& send, Attempt* attempt) {
  const Instance& instance = instances_[send.instance];
  const TimePoint start = self.now();
  if (attempt != nullptr) {
    attempt->turn.start(self);
    attempt->at_start = self.times_of_all();
  }
  Lock& send_lock = instance.send_lock(send.destination);
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
  Connection& connection = instance.connection_to(send.destination);
  const bool sent = connection.post(self, send.envelope, process_.wire_bytes(send.envelope));
  if (own_lock) {
    send_lock.unlock(self);
  }
  const Duration begin_at = self.now() - start;
  const bool is_longer = instance.context->next_look_is_longer();
  instance.context->look(self);
  const Duration look_at = self.now() - start;
  if (attempt != nullptr) {
    attempt->at_look = self.times_of_all();
  }
  const int found = instance.context->drain(self, handler_);
  instance.lock->unlock(self);
  if (attempt != nullptr) {
    const Duration room_at = sent ? locked_at : std::max(locked_at, connection.saw_no_room_at() - start);
    attempt->turn.visits.push_back({instance.lock.get(), Duration{}, locked_at, locked_at});
    attempt->turn.visits.push_back(
        {instance.lock.get(), locked_at, room_at, room_at, PollTurn::nobodys, Duration{}, false, true});
    attempt->turn.visits.push_back(
        {instance.lock.get(), room_at, look_at, self.now() - start, send.instance, begin_at, false, true});
    // A rest would not see who is at the connection, and half an attempt is not like a whole one.
    attempt->turn.undisturbed =
        found == 0 && !is_longer && !sent && !own_lock && !locked && instance.lock->can_be_visited_by_lock();
    attempt->turn.period = self.now() - start;
  }
  if (sent && send.envelope.header == Header::eager) {
    completion_.complete(self, *send.request);
  }
  return sent;
}

void PendingSends::show() const {
  if (process_.engine().trace() != nullptr) [[unlikely]] {
    process_.show_length(label_, static_cast<std::int64_t>(delayed_.size() + queues_.size()));
  }
}

int PendingSends::run(SimThread& self) {
  lock_->lock(self);
  if (at_connection_) {
    const int sent = queues_.send_where_there_is_room(self);
    show();
    lock_->unlock(self);
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
    } else if (process_.library().matching.ordered_by_transport()) {
      break; // none may pass another
    } else {
      // Only those that wait for the same connection are bound to fail as well.
      alike_end = alike_end > next ? alike_end : delayed_.end_of_connection(next);
      ++next;
      next += skip_failing_attempts(self, next, alike_end, handled);
    }
  }
  show();
  if (process_.library().protocol.pending_order == "reversing") {
    // Each failed entry was removed and put in front of those that failed before it.
    delayed_.reverse();
  }
  lock_->unlock(self);
  return handled;
}

/// Whether one of the delayed sends at these places, which wait for the same connection, would go now. An interface has room for
/// messages of any size, or for none.
bool PendingSends::finds_room(std::size_t begin, std::size_t end) const {
  const std::size_t last = process_.copied_by_transport() ? end : std::min(end, begin + 1);
  for (std::size_t place = begin; place < last; ++place) {
    const DelayedSend& send = delayed_[place];
    const Connection& connection = instances_[send.instance].connection_to(send.destination);
    if (connection.has_room(process_.wire_bytes(send.envelope))) {
      return true;
    }
  }
  return false;
}

/// After a failed attempt: while nothing changes, the next ones, from `begin` to before `end`, fail as well. Lets their time pass at
/// once and returns how many there were.
std::size_t PendingSends::skip_failing_attempts(SimThread& self, std::size_t begin, std::size_t end, int& handled) {
  self.settle();
  if (self.shares_core()) { // an attempt that loses its core would have to go on in the middle of what it posts
    return 0;
  }
  // The peer may have made room since the failed attempt looked for it.
  const bool quiet = !finds_room(begin, end) &&
                     std::none_of(instances_.begin(), instances_.end(),
                                  [](const Instance& instance) { return instance.context->has_completions(); });
  const Duration idle_before = self.charged(Category::poll_idle);
  const IdlePoll::Resumption resumption =
      turns_.rest_through(self, attempt_.turn, attempt_.last_turn, quiet, static_cast<std::int64_t>(end - begin));
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
      instances_[send.instance].connection_to(send.destination).look_is_under_way();
    }
  } else if (resumption.inside && resumption.looking) { // this attempt's post has failed already
    const PollTurn::Visit& visit = attempt_.turn.visits[Attempt::at_poll];
    const Instance& instance = instances_.with_lock(*visit.lock);
    handled += instance.context->drain(self, handler_);
    instance.lock->unlock(self);
    ++skipped;
  }
  return skipped;
}

Duration PendingSends::Attempt::until(std::size_t place, Category category) const {
  const auto i = static_cast<std::size_t>(category);
  const Duration looking_for_room = turn.visits[at_room].look_at - turn.visits[at_room].try_at;
  return (place == at_poll ? at_look : at_lock)[i] - at_start[i] +
         (place == at_room && category == Category::nic_post ? looking_for_room : Duration{});
}

} // namespace contend
