#include "models/matching/offload_matcher.hpp"

#include "models/matching/signature.hpp"

#include <algorithm>

namespace contend {

HardwareMatcher::Time OffloadMatcher::reach(Envelope& envelope) {
  std::int64_t visited = 0;
  const std::size_t found = offloaded_.find_in_copy(envelope, visited);
  if (found == ReceiveList::none || offloaded_.order(found) >= first_inactive_) {
    visited = offloaded() - inactive_;
    envelope.missed = true;
    ++unseen_;
  } else {
    envelope.matched = offloaded_.take(found);
  }
  visited_by_interface_ += static_cast<std::uint64_t>(visited);
  return {prices_.offload_latency, prices_.offload_element * visited};
}

void OffloadMatcher::message_seen() {
  if (--unseen_ == 0) {
    first_inactive_ = all;
    inactive_ = 0;
  }
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
  QueueWalk walk(host_, prices_.element, self.core());
  const ListPlace match = find_in_both(offloaded_, software_, envelope, walk);
  self.owe(prices_.attempt + walk.price(reuse_.walk_receives(walk.visited(), posted(), unexpected())),
           Category::matching);
  visited_ += static_cast<std::uint64_t>(walk.visited());
  PostedReceive* receive = nullptr;
  if (match.list == nullptr) {
    self.owe(prices_.fragment_for(envelope) + prices_.enqueue, Category::matching);
    messages_.append(envelope);
  } else {
    receive = match.list->take(match.index);
    if (match.list == &offloaded_) {
      inactive_ -= receive->order >= first_inactive_ ? 1 : 0;
      self.owe(prices_.offload_command, Category::matching);
    } else {
      --software_in_bucket(*receive);
    }
  }
  if (envelope.missed) {
    message_seen();
  }
  return receive;
}

std::optional<Envelope> OffloadMatcher::post(SimThread& self, PostedReceive& receive) {
  receive.order = next_order_++;
  QueueWalk walk(host_, prices_.element, self.core());
  const std::size_t found = messages_.find(receive, walk);
  self.owe(prices_.attempt + walk.price(reuse_.walk_messages(walk.visited(), unexpected(), posted())),
           Category::matching);
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
    if (unseen_ > 0) {
      first_inactive_ = std::min(first_inactive_, receive.order);
      ++inactive_;
    }
  } else {
    software_.append(receive, self.core());
    ++software_in_bucket(receive);
  }
  return std::nullopt;
}

} // namespace contend
