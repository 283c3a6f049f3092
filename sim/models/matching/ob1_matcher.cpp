#include "models/matching/ob1_matcher.hpp"

namespace contend {

Ob1Matcher::Ob1Matcher(const MatcherSetup& setup)
    : host_(setup.host), parameters_(setup.prices), reuse_(parameters_.element_bytes, parameters_.fragment_bytes),
      peers_(static_cast<std::size_t>(setup.peers)) {}

PostedReceive* Ob1Matcher::arrive(SimThread& self, const Envelope& envelope) {
  Peer& peer = peers_[static_cast<std::size_t>(envelope.source)];
  QueueWalk walk(host_, parameters_.element, self.core());
  const ListPlace match = find_in_both(peer.receives, wildcards_, envelope, walk);
  self.owe(parameters_.attempt + walk.price(reuse_.walk_receives(walk.visited(), posted_, unexpected_)),
           Category::matching);
  visited_ += static_cast<std::uint64_t>(walk.visited());
  if (match.list == nullptr) {
    self.owe(parameters_.fragment_for(envelope) + parameters_.enqueue, Category::matching);
    peer.unexpected.append(envelope);
    ++unexpected_;
    return nullptr;
  }
  --posted_;
  return match.list->take(match.index);
}

std::optional<Envelope> Ob1Matcher::post(SimThread& self, PostedReceive& receive) {
  receive.order = next_order_++;
  QueueWalk walk(host_, parameters_.element, self.core());
  UnexpectedList* queue = nullptr;
  std::size_t found = UnexpectedList::none;
  if (receive.source != any_source) {
    queue = &peers_[static_cast<std::size_t>(receive.source)].unexpected;
    found = queue->find(receive, walk);
  } else if (unexpected_ > 0) {
    // From the peer after the one that was found last on, so that none starves the others (recv_req_match_wild).
    for (std::size_t turn = 0; turn < peers_.size() && found == UnexpectedList::none; ++turn) {
      const std::size_t peer = (last_probed_ + 1 + turn) % peers_.size();
      queue = &peers_[peer].unexpected;
      found = queue->find(receive, walk);
      last_probed_ = found == UnexpectedList::none ? last_probed_ : peer;
    }
  }
  self.owe(parameters_.attempt + walk.price(reuse_.walk_messages(walk.visited(), unexpected_, posted_)),
           Category::matching);
  visited_ += static_cast<std::uint64_t>(walk.visited());
  if (found != UnexpectedList::none) {
    self.owe(parameters_.fragment_release, Category::matching);
    --unexpected_;
    return queue->take(found);
  }
  self.owe(parameters_.enqueue, Category::matching);
  (receive.source == any_source ? wildcards_ : peers_[static_cast<std::size_t>(receive.source)].receives)
      .append(receive, self.core());
  ++posted_;
  return std::nullopt;
}

} // namespace contend
