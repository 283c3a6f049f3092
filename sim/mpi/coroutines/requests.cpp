// Requests of an OS process, and the queues in which they meet messages.
#include "models/matching/queue_walk.hpp"
#include "mpi/coroutines/os_process.hpp"
#include "mpi/coroutines/world.hpp"

#include <algorithm>

namespace contend {

CoRequest* OsProcess::new_request(CoRequest::Kind kind, const ProcessEnvelope& envelope, std::int64_t bytes) {
  CoRequest* request = nullptr;
  if (free_requests_.empty()) {
    request = &requests_.emplace_back();
  } else {
    request = free_requests_.back();
    free_requests_.pop_back();
    *request = CoRequest{};
  }
  request->kind = kind;
  request->envelope = envelope;
  request->bytes = bytes;
  return request;
}

/// Takes what fits out of a queue, at the price of the walk.
QueuedOperation* OsProcess::search(ProcessQueues& queues, const ProcessEnvelope& wanted) {
  const MatchingParameters& prices = world_.settings().matching;
  const std::int64_t length = queues.size();
  const ProcessQueues::Found found = queues.take(wanted);
  QueueWalk walk(world_.host(), prices.element, core_);
  walk.visit(found.visited);
  // What a walk goes through again and again: as much as it has just gone through, up to the whole queue.
  const std::int64_t footprint = std::min(length, std::max<std::int64_t>(found.visited, 1)) * prices.element_bytes;
  thread_->owe(prices.attempt + walk.price(footprint), Category::matching);
  return found.operation;
}

void OsProcess::keep(ProcessQueues& queues, CoRequest& request) {
  thread_->owe(world_.settings().matching.enqueue, Category::matching);
  queues.append(request);
}

void OsProcess::complete(CoRequest& request) {
  software(world_.settings().software.complete);
  request.complete = true;
  thread_->engine().note_operation();
  if (request.counted && request.owner->pending_-- == 1) {
    policy_->notify(*request.owner);
  }
}

/// A receive has been matched with a message: what it will say when it is complete. Throws what is an error of the program.
void OsProcess::take(CoRequest& receive, const ProcessEnvelope& message, std::int64_t bytes) {
  if (bytes > receive.bytes) {
    throw InvariantViolation("a message of " + std::to_string(bytes) + " B from rank " +
                             std::to_string(message.source) + " does not fit the receive of " +
                             std::to_string(receive.bytes) + " B by rank " + std::to_string(message.receiver));
  }
  receive.status = {message.source, message.tag, bytes};
  ++counters_.received;
}

} // namespace contend
