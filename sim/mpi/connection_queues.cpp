#include "mpi/connection_queues.hpp"

#include <algorithm>

namespace contend {

ConnectionQueues::ConnectionQueues(ProcessContext& process, Instances& instances, CompletionPath& completion,
                                   const RendezvousSteps& steps)
    : process_(process), instances_(instances), completion_(completion), steps_(steps),
      keep_order_(process.library().protocol.pending_order == "behind-others") {}

bool ConnectionQueues::others_wait_at(int instance, int destination) const {
  if (!keep_order_) {
    return false;
  }
  const auto waiting = queues_.find({instance, destination});
  return waiting != queues_.end() && !waiting->second.empty();
}

void ConnectionQueues::push(int instance, int destination, const WaitingAtConnection& waiting) {
  queues_[{instance, destination}].push_back(waiting);
  instances_[instance].waiting_without_memory += waiting.kept ? 0 : 1;
}

bool ConnectionQueues::may_go() const {
  return std::any_of(queues_.begin(), queues_.end(), [&](const auto& waiting) {
    const auto& [connection, queue] = waiting;
    return !queue.empty() && has_room_for(instances_[connection.first], connection.second, queue.front());
  });
}

std::size_t ConnectionQueues::size() const {
  std::size_t count = 0;
  for (const auto& [connection, queue] : queues_) {
    count += queue.size();
  }
  return count;
}

bool ConnectionQueues::has_room_for(const Instance& instance, int destination,
                                    const WaitingAtConnection& waiting) const {
  if (waiting.step) {
    return steps_.has_room_for(instance, *waiting.step);
  }
  const Connection& connection = instance.connection_to(destination);
  return waiting.kept ? connection.has_room_for_kept()
                      : connection.has_room(process_.wire_bytes(waiting.send.envelope));
}

bool ConnectionQueues::try_to_go(SimThread& self, const Instance& instance, int destination,
                                 const WaitingAtConnection& waiting) {
  if (waiting.step) {
    return steps_.post_locked(self, instance, *waiting.step);
  }
  Connection& connection = instance.connection_to(destination);
  const Envelope& envelope = waiting.send.envelope;
  return waiting.kept
             ? connection.post_kept(self, envelope, envelope.header == Header::eager ? waiting.send.request : nullptr)
             : connection.post(self, envelope, process_.wire_bytes(envelope));
}

/// What the transport keeps is complete when its memory comes back.
void ConnectionQueues::gone(SimThread& self, const Instance& instance, const WaitingAtConnection& waiting) {
  if (waiting.step) {
    listener_->after_step(self, instance, *waiting.step);
  } else if (!waiting.kept && waiting.send.envelope.header == Header::eager) {
    completion_.complete(self, *waiting.send.request);
  }
  self.settle();
}

int ConnectionQueues::send_where_there_is_room(SimThread& self) {
  int handled = 0;
  for (auto& [connection, queue] : queues_) {
    const auto [number, destination] = connection;
    Instance& instance = instances_[number];
    if (queue.empty() || !has_room_for(instance, destination, queue.front())) {
      continue;
    }
    Lock& lock = instance.send_lock(destination);
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

} // namespace contend
