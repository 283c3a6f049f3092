#include "models/matching/list_matcher.hpp"

namespace contend {

PostedReceive* ListMatcher::arrive(SimThread& self, const Envelope& envelope) {
  QueueWalk walk(host_, prices_.element, self.core());
  const std::size_t found = receives_.find(envelope, walk);
  self.owe(prices_.attempt + walk.price(reuse_.walk_receives(walk.visited(), posted(), unexpected())),
           Category::matching);
  visited_ += static_cast<std::uint64_t>(walk.visited());
  if (found == ReceiveList::none) {
    self.owe(prices_.fragment_for(envelope) + prices_.enqueue, Category::matching);
    messages_.append(envelope);
    return nullptr;
  }
  return receives_.take(found);
}

std::optional<Envelope> ListMatcher::post(SimThread& self, PostedReceive& receive) {
  receive.order = next_order_++;
  QueueWalk walk(host_, prices_.element, self.core());
  const std::size_t found = messages_.find(receive, walk);
  self.owe(prices_.attempt + walk.price(reuse_.walk_messages(walk.visited(), unexpected(), posted())),
           Category::matching);
  visited_ += static_cast<std::uint64_t>(walk.visited());
  if (found == UnexpectedList::none) {
    self.owe(prices_.enqueue, Category::matching);
    receives_.append(receive, self.core());
    return std::nullopt;
  }
  self.owe(prices_.fragment_release, Category::matching);
  return messages_.take(found);
}

} // namespace contend
