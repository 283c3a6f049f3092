#include "mpi/active_messages.hpp"

#include "core/trace_scope.hpp"

namespace contend {

ActiveMessages::ActiveMessages(ProcessContext& process, Instances& instances, ProgressTurns& turns,
                               CompletionHandler& handler)
    : process_(process), instances_(instances), turns_(turns), handler_(handler),
      counted_(static_cast<std::size_t>(process.peers())),
      answers_line_(process.engine(), process.host(), process.name() + "/answers") {}

void ActiveMessages::send_counted(SimThread& self, int destination, std::int64_t bytes) {
  const TraceScope scope(self, process_.rank(), "send active message");
  const Instance& instance = instances_[instances_.of_message(self, 0, 0, destination)];
  Connection& connection = instance.connection_to(destination);
  const Envelope envelope{0, process_.rank(), 0, 0, bytes, Header::active};
  Lock& lock = instance.send_lock(destination);
  process_.enter_call(self);
  lock.lock(self);
  while (!connection.post(self, envelope, process_.wire_bytes(envelope))) {
    if (&lock == instance.lock.get()) {
      instance.interface->poll(self, handler_);
    } else { // a poll needs the instance's lock, and may send
      lock.unlock(self);
      instance.lock->lock(self, Category::poll_idle);
      instance.interface->poll(self, handler_);
      instance.lock->unlock(self, Category::poll_idle);
      lock.lock(self);
    }
    advance_others(self, instance);
  }
  lock.unlock(self);
  process_.leave_call(self);
}

void ActiveMessages::wait_counted(SimThread& self, int source, std::int64_t messages) {
  const TraceScope scope(self, process_.rank(), "wait for active messages");
  const auto from = static_cast<std::size_t>(source);
  // Messages come in where they were sent: senders that do not map them choose an instance of their own.
  const InstanceMapping& mapping = instances_.mapping();
  const int first = mapping.decides() ? mapping.of(0, 0, source) : 0;
  const int last = mapping.decides() ? first : instances_.count() - 1;
  int target = first;
  for (self.settle(); counted_[from] < messages; self.settle()) {
    advance(self, instances_[target]);
    target = target == last ? first : target + 1;
  }
}

/// What makes room at the peer may have come to another instance where threads choose them. Whoever holds its lock advances it.
void ActiveMessages::advance_others(SimThread& self, const Instance& instance) {
  if (instances_.mapping().decides()) {
    return;
  }
  for (const Instance& other : instances_) {
    if (&other != &instance && other.lock->try_lock(self, Category::poll_idle)) {
      other.interface->poll(self, handler_);
      other.lock->unlock(self, Category::poll_idle);
    }
  }
}

void ActiveMessages::advance(SimThread& self, const Instance& instance) {
  Lock* const global_lock = process_.global_lock();
  if (global_lock != nullptr) {
    global_lock->lock(self, Category::poll_idle);
  }
  instance.lock->lock(self, Category::poll_idle);
  instance.interface->poll(self, handler_);
  instance.lock->unlock(self, Category::poll_idle);
  if (global_lock != nullptr) {
    global_lock->unlock(self, Category::poll_idle);
  }
}

/// Of a message with a handler, whose payload is where the interface reads it.
Envelope ActiveMessages::envelope_of(SimThread& self, std::int64_t bytes, ActiveMessage& message) const {
  Envelope envelope{0, process_.rank(), 0, 0, bytes, Header::active};
  envelope.active = &message;
  if (!process_.copied_by_transport()) {
    process_.copy(self, bytes);
  }
  return envelope;
}

/// Like btl/uct it polls where it has the instance's lock already: threads that queue for a fair lock would keep turns of
/// progress, which try it, from making room.
void ActiveMessages::send(SimThread& self, int instance, int destination, std::int64_t bytes, ActiveMessage& message) {
  const Instance& chosen = instances_[instance];
  const Envelope envelope = envelope_of(self, bytes, message);
  Lock& lock = chosen.send_lock(destination);
  for (;;) {
    lock.lock(self);
    const bool sent = post(self, chosen, destination, envelope);
    if (!sent && &lock == chosen.lock.get()) {
      chosen.context->look(self);
      chosen.context->drain(self, handler_);
    }
    lock.unlock(self);
    if (sent) {
      return;
    }
    process_.leave_call(self);
    turns_.progress(self, ProgressSource::Noise::always);
    process_.enter_call(self);
  }
}

bool ActiveMessages::post(SimThread& self, const Instance& instance, int destination, const Envelope& envelope) const {
  Lock& lock = instance.send_lock(destination);
  const bool held = lock.holder() == &self; // by a poll
  if (!held) {
    lock.lock(self);
  }
  const bool sent = instance.connection_to(destination).post(self, envelope, process_.wire_bytes(envelope));
  if (!held) {
    lock.unlock(self);
  }
  return sent;
}

/// What finds no room goes at the end of a turn of progress.
void ActiveMessages::answer(SimThread& self, int instance, int destination, std::int64_t bytes,
                            ActiveMessage& message) {
  const Envelope envelope = envelope_of(self, bytes, message);
  self.settle();
  if (answers_.empty() && post(self, instances_[instance], destination, envelope)) {
    return;
  }
  process_.update_shared(self, answers_line_, Category::line_transfer);
  answers_.push_back({instance, destination, envelope});
  turns_.end_rests(); // a resting thread would find it at the end of its turn
}

void ActiveMessages::take(SimThread& self, const Envelope& envelope) {
  self.settle();
  if (envelope.active != nullptr) {
    envelope.active->arrived(self);
    return;
  }
  ++counted_[static_cast<std::size_t>(envelope.source)];
  process_.engine().note_operation();
}

bool ActiveMessages::first_answer_may_go() const {
  const WaitingAnswer& first = answers_.front();
  return instances_[first.instance].connection_to(first.destination).has_room(process_.wire_bytes(first.envelope));
}

int ActiveMessages::run(SimThread& self) {
  int sent = 0;
  while (may_go()) {
    process_.update_shared(self, answers_line_, Category::line_transfer);
    if (answers_.empty()) {
      break; // another thread was faster
    }
    const WaitingAnswer next = answers_.front();
    answers_.pop_front();
    if (!post(self, instances_[next.instance], next.destination, next.envelope)) {
      process_.update_shared(self, answers_line_, Category::line_transfer);
      answers_.push_front(next);
      turns_.end_rests(); // of who found none while this one was tried
      break;
    }
    ++sent;
  }
  return sent;
}

} // namespace contend
