#include "models/matching/offload_matcher.hpp"

#include "models/matching/signature.hpp"

namespace contend {

HardwareMatcher::Time OffloadMatcher::reach(Envelope& envelope) {
  std::int64_t visited = 0;
  if (unseen_ == 0) {
    const std::size_t found = offloaded_.find_in_copy(envelope, visited);
    envelope.matched = found == ReceiveList::none ? nullptr : offloaded_.take(found);
  }
  envelope.missed = envelope.matched == nullptr;
  unseen_ += envelope.missed ? 1 : 0;
  visited_by_interface_ += static_cast<std::uint64_t>(visited);
  return {prices_.offload_latency, prices_.offload_element * visited};
}

int& OffloadMatcher::software_in_bucket(const PostedReceive& receive) {
  return receive.has_wildcard() ? wildcards_in_software_
                                : in_bucket_[hash_of(receive.communicator, receive.source, receive.tag) % buckets];
}

bool OffloadMatcher::may_offload(const PostedReceive& receive) const {
  if (offloaded_.size() >= capacity_ || receive.source == any_source) {
    return false;
  }
  if (receive.tag == any_tag) {
    return software_.empty();
  }
  return wildcards_in_software_ == 0 &&
         in_bucket_[hash_of(receive.communicator, receive.source, receive.tag) % buckets] == 0;
}

PostedReceive* OffloadMatcher::arrive(SimThread& self, const Envelope& envelope) {
  self.settle(); // the interface looks at the same lists
  unseen_ -= envelope.missed ? 1 : 0;
  QueueWalk walk(host_, prices_.element, self.core());
  const ListPlace match = find_in_both(offloaded_, software_, envelope, walk);
  self.owe(prices_.attempt + walk.price(footprint()), Category::matching);
  visited_ += static_cast<std::uint64_t>(walk.visited());
  if (match.list == nullptr) {
    self.owe(prices_.fragment_allocate + prices_.enqueue, Category::matching);
    messages_.append(envelope);
    return nullptr;
  }
  PostedReceive* const receive = match.list->take(match.index);
  if (match.list == &offloaded_) {
    self.owe(prices_.offload_command, Category::matching);
  } else {
    --software_in_bucket(*receive);
  }
  return receive;
}

std::optional<Envelope> OffloadMatcher::post(SimThread& self, PostedReceive& receive) {
  receive.order = next_order_++;
  QueueWalk walk(host_, prices_.element, self.core());
  const std::size_t found = messages_.find(receive, walk);
  self.owe(prices_.attempt + walk.price(footprint()), Category::matching);
  visited_ += static_cast<std::uint64_t>(walk.visited());
  if (found != UnexpectedList::none) {
    self.owe(prices_.fragment_release, Category::matching);
    return messages_.take(found);
  }
  self.owe(prices_.enqueue, Category::matching);
  if (may_offload(receive)) {
    self.owe(prices_.offload_command, Category::matching);
    self.settle(); // from here on a message can find it
    offloaded_.append(receive, self.core());
  } else {
    software_.append(receive, self.core());
    ++software_in_bucket(receive);
  }
  return std::nullopt;
}

} // namespace contend
