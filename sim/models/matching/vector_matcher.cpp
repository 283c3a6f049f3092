#include "models/matching/vector_matcher.hpp"

namespace contend {

namespace {

/// Bytes of a slot (Open MPI's layout): tag, tag mask, source, source mask and a pointer; an unexpected one has no masks.
constexpr std::int64_t receive_slot_bytes = 24;
constexpr std::int64_t message_slot_bytes = 16;

} // namespace

VectorMatcher::VectorMatcher(const MatcherSetup& setup)
    : host_(setup.host), prices_(setup.prices), width_(setup.sizes.vector_width),
      reuse_(width_ * receive_slot_bytes, width_ * message_slot_bytes), receives_(width_), messages_(width_) {}

void VectorMatcher::charge(SimThread& self, const QueueWalk& walk, std::int64_t footprint) {
  self.owe(prices_.attempt + walk.price(footprint), Category::matching);
  visited_ += static_cast<std::uint64_t>(walk.visited());
}

PostedReceive* VectorMatcher::arrive(SimThread& self, const Envelope& envelope) {
  QueueWalk walk(host_, prices_.vector_step, self.core());
  const std::size_t found =
      receives_.find(signature(envelope.communicator, envelope.tag), signature(envelope.communicator, any_tag), walk,
                     [&](const PostedReceive* receive) { return receive->accepts(envelope); });
  const std::int64_t footprint = reuse_.walk_receives(walk.visited(), receive_blocks(), message_blocks());
  PostedReceive* match = nullptr;
  if (found != PackedQueue<PostedReceive*>::none) {
    match = receives_.take(found, walk);
  } else {
    self.owe(prices_.fragment_for(envelope) + prices_.enqueue, Category::matching);
    messages_.append(signature(envelope.communicator, envelope.tag), envelope, walk);
  }
  charge(self, walk, footprint);
  return match;
}

std::optional<Envelope> VectorMatcher::post(SimThread& self, PostedReceive& receive) {
  receive.order = next_order_++;
  QueueWalk walk(host_, prices_.vector_step, self.core());
  const auto fits = [&](const Envelope& envelope) { return receive.accepts(envelope); };
  const Signature wanted = signature(receive.communicator, receive.tag);
  const std::size_t found =
      receive.tag == any_tag ? messages_.find(walk, fits) : messages_.find(wanted, wanted, walk, fits);
  const std::int64_t footprint = reuse_.walk_messages(walk.visited(), message_blocks(), receive_blocks());
  std::optional<Envelope> message;
  if (found != PackedQueue<Envelope>::none) {
    message = messages_.take(found, walk);
    self.owe(prices_.fragment_release, Category::matching);
  } else {
    receives_.append(wanted, &receive, walk);
    self.owe(prices_.enqueue, Category::matching);
  }
  charge(self, walk, footprint);
  return message;
}

} // namespace contend
