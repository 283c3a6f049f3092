#include "models/matching/vector_matcher.hpp"

namespace contend {

namespace {

/// Bytes of a slot (Open MPI's layout): tag, tag mask, source, source mask and a pointer; an unexpected one has no masks.
constexpr std::int64_t receive_slot_bytes = 24;
constexpr std::int64_t message_slot_bytes = 16;

} // namespace

std::int64_t VectorMatcher::footprint() const {
  return width_ * (static_cast<std::int64_t>(receives_.blocks()) * receive_slot_bytes +
                   static_cast<std::int64_t>(messages_.blocks()) * message_slot_bytes);
}

void VectorMatcher::charge(SimThread& self, const QueueWalk& walk, std::int64_t walked_through) {
  self.owe(prices_.attempt + walk.price(walked_through), Category::matching);
  visited_ += static_cast<std::uint64_t>(walk.visited());
}

PostedReceive* VectorMatcher::arrive(SimThread& self, const Envelope& envelope) {
  QueueWalk walk(host_, prices_.vector_step, self.core());
  const std::int64_t walked_through = footprint();
  const std::size_t found =
      receives_.find(signature(envelope.communicator, envelope.tag), signature(envelope.communicator, any_tag), walk,
                     [&](const PostedReceive* receive) { return receive->accepts(envelope); });
  PostedReceive* match = nullptr;
  if (found != PackedQueue<PostedReceive*>::none) {
    match = receives_.take(found, walk);
  } else {
    self.owe(prices_.fragment_for(envelope) + prices_.enqueue, Category::matching);
    messages_.append(signature(envelope.communicator, envelope.tag), envelope, walk);
  }
  charge(self, walk, walked_through);
  return match;
}

std::optional<Envelope> VectorMatcher::post(SimThread& self, PostedReceive& receive) {
  receive.order = next_order_++;
  QueueWalk walk(host_, prices_.vector_step, self.core());
  const std::int64_t walked_through = footprint();
  const auto fits = [&](const Envelope& envelope) { return receive.accepts(envelope); };
  const Signature wanted = signature(receive.communicator, receive.tag);
  const std::size_t found =
      receive.tag == any_tag ? messages_.find(walk, fits) : messages_.find(wanted, wanted, walk, fits);
  std::optional<Envelope> message;
  if (found != PackedQueue<Envelope>::none) {
    message = messages_.take(found, walk);
    self.owe(prices_.fragment_release, Category::matching);
  } else {
    receives_.append(wanted, &receive, walk);
    self.owe(prices_.enqueue, Category::matching);
  }
  charge(self, walk, walked_through);
  return message;
}

} // namespace contend
