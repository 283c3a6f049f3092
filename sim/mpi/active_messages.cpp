// Messages that a handler takes: those of a library below MPI, which only count, and those of one-sided operations.
#include "core/trace_scope.hpp"
#include "models/matching/active_message.hpp"
#include "mpi/process.hpp"

namespace contend {

void Process::send_active(SimThread& self, int destination, std::int64_t bytes) {
  const TraceScope scope(self, rank_, "send active message");
  Instance& instance = instances_[static_cast<std::size_t>(instance_for(self, 0, 0, destination))];
  Connection& connection = connection_to(instance, destination);
  const Envelope envelope{0, rank_, 0, 0, bytes, Header::active};
  Lock& lock = send_lock_of(instance, destination);
  enter_call(self);
  lock.lock(self);
  while (!connection.post(self, envelope, settings_.library.protocol.header_bytes + bytes)) {
    if (&lock == instance.lock.get()) {
      instance.interface->poll(self, *this);
    } else { // a poll needs the instance's lock, and may send
      lock.unlock(self);
      instance.lock->lock(self, Category::poll_idle);
      instance.interface->poll(self, *this);
      instance.lock->unlock(self, Category::poll_idle);
      lock.lock(self);
    }
    advance_others(self, instance);
  }
  lock.unlock(self);
  leave_call(self);
}

void Process::wait_active(SimThread& self, int source, std::int64_t messages) {
  const TraceScope scope(self, rank_, "wait for active messages");
  const auto from = static_cast<std::size_t>(source);
  // Messages come in where they were sent: senders that do not map them choose an instance of their own.
  const int first = mapping_.decides() ? mapping_.of(0, 0, source) : 0;
  const int last = mapping_.decides() ? first : targets() - 1;
  int target = first;
  for (self.settle(); active_received_[from] < messages; self.settle()) {
    advance_active(self, instances_[static_cast<std::size_t>(target)]);
    target = target == last ? first : target + 1;
  }
}

/// What makes room at the peer may have come to another instance where threads choose them. Whoever holds its lock advances it.
void Process::advance_others(SimThread& self, const Instance& instance) {
  for (Instance& other : instances_) {
    if (!mapping_.decides() && &other != &instance && other.lock->try_lock(self, Category::poll_idle)) {
      other.interface->poll(self, *this);
      other.lock->unlock(self, Category::poll_idle);
    }
  }
}

void Process::advance_active(SimThread& self, Instance& instance) {
  if (global_lock_) {
    global_lock_->lock(self, Category::poll_idle);
  }
  instance.lock->lock(self, Category::poll_idle);
  instance.interface->poll(self, *this);
  instance.lock->unlock(self, Category::poll_idle);
  if (global_lock_) {
    global_lock_->unlock(self, Category::poll_idle);
  }
}

/// Makes progress until there is room. The caller is inside a call. Like btl/uct it polls where it has the instance's lock
/// already: threads that queue for a fair lock would keep turns of progress, which try it, from making room.
void Process::send_active(SimThread& self, int instance, int destination, std::int64_t bytes, ActiveMessage& message) {
  Instance& chosen = instances_[static_cast<std::size_t>(instance)];
  Envelope envelope{0, rank_, 0, 0, bytes, Header::active};
  envelope.active = &message;
  if (!copied_by_transport_) {
    copy(self, bytes);
  }
  Lock& lock = send_lock_of(chosen, destination);
  for (;;) {
    lock.lock(self);
    const bool sent = post_active(self, chosen, destination, envelope);
    if (!sent && &lock == chosen.lock.get()) {
      chosen.context->look(self);
      chosen.context->drain(self, *this);
    }
    lock.unlock(self);
    if (sent) {
      return;
    }
    leave_call(self);
    progress(self, Noise::always);
    enter_call(self);
  }
}

bool Process::post_active(SimThread& self, Instance& instance, int destination, const Envelope& envelope) {
  Lock& lock = send_lock_of(instance, destination);
  const bool held = lock.holder() == &self; // by a poll
  if (!held) {
    lock.lock(self);
  }
  const bool sent = connection_to(instance, destination).post(self, envelope, wire_bytes(envelope));
  if (!held) {
    lock.unlock(self);
  }
  return sent;
}

/// From a handler, which must not wait: what finds no room goes at the end of a turn of progress.
void Process::answer_active(SimThread& self, int instance, int destination, std::int64_t bytes,
                            ActiveMessage& message) {
  Envelope envelope{0, rank_, 0, 0, bytes, Header::active};
  envelope.active = &message;
  if (!copied_by_transport_) {
    copy(self, bytes);
  }
  self.settle();
  if (answers_.empty() && post_active(self, instances_[static_cast<std::size_t>(instance)], destination, envelope)) {
    return;
  }
  update_shared(self, answers_line_, Category::line_transfer);
  answers_.push_back({instance, destination, envelope});
  end_rests(); // a resting thread would find it at the end of its turn
}

bool Process::first_answer_may_go() const {
  const WaitingAnswer& first = answers_.front();
  return connection_to(instances_[static_cast<std::size_t>(first.instance)], first.destination)
      .has_room(wire_bytes(first.envelope));
}

int Process::send_answers(SimThread& self) {
  int sent = 0;
  while (answers_may_go()) {
    update_shared(self, answers_line_, Category::line_transfer);
    if (answers_.empty()) {
      break; // another thread was faster
    }
    const WaitingAnswer next = answers_.front();
    answers_.pop_front();
    if (!post_active(self, instances_[static_cast<std::size_t>(next.instance)], next.destination, next.envelope)) {
      update_shared(self, answers_line_, Category::line_transfer);
      answers_.push_front(next);
      end_rests(); // of who found none while this one was tried
      break;
    }
    ++sent;
  }
  return sent;
}

} // namespace contend
