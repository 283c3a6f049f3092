#include "models/matching/ob1_matcher.hpp"

namespace contend {

Ob1Matcher::Ob1Matcher(const Host& host, const MatchingParameters& parameters, int peers)
    : host_(host), parameters_(parameters), peers_(static_cast<std::size_t>(peers)) {}

PostedReceive* Ob1Matcher::arrive(SimThread& self, const Envelope& envelope) {
  Peer& peer = peers_[static_cast<std::size_t>(envelope.source)];
  QueueWalk walk(host_, parameters_.element, self.core());
  const std::int64_t walked_through = footprint();
  PostedReceive* const match = wildcards_.empty() ? take(peer.receives, peer.receives.find(envelope, walk))
                                                  : walk_both(peer.receives, envelope, walk);
  self.owe(parameters_.attempt + walk.price(walked_through), Category::matching);
  visited_ += static_cast<std::uint64_t>(walk.visited());
  if (match == nullptr) {
    self.owe(parameters_.fragment_allocate + parameters_.enqueue, Category::matching);
    peer.unexpected.push_back(envelope);
    ++unexpected_;
  }
  return match;
}

PostedReceive* Ob1Matcher::take(ReceiveList& list, std::size_t index) {
  if (index == ReceiveList::none) {
    return nullptr;
  }
  --posted_;
  return list.take(index);
}

/// Both lists are in posting order: always looks at the older of the two next elements.
PostedReceive* Ob1Matcher::walk_both(ReceiveList& receives, const Envelope& envelope, QueueWalk& walk) {
  std::size_t specific = receives.first();
  std::size_t wildcard = wildcards_.first();
  while (specific != ReceiveList::none || wildcard != ReceiveList::none) {
    const bool take_specific = wildcard == ReceiveList::none ||
                               (specific != ReceiveList::none && receives.order(specific) < wildcards_.order(wildcard));
    ReceiveList& list = take_specific ? receives : wildcards_;
    std::size_t& index = take_specific ? specific : wildcard;
    if (list.visit(index, envelope, walk)) {
      return take(list, index);
    }
    index = list.first_from(index + 1);
  }
  return nullptr;
}

std::optional<Envelope> Ob1Matcher::post(SimThread& self, PostedReceive& receive) {
  receive.order = next_order_++;
  QueueWalk walk(host_, parameters_.element, self.core());
  std::optional<Envelope> found;
  if (receive.source != any_source) {
    found = take_unexpected(walk, peers_[static_cast<std::size_t>(receive.source)], receive);
  } else {
    for (auto peer = peers_.begin(); peer != peers_.end() && !found; ++peer) {
      found = take_unexpected(walk, *peer, receive);
    }
  }
  self.owe(parameters_.attempt + walk.price(footprint()), Category::matching);
  visited_ += static_cast<std::uint64_t>(walk.visited());
  if (found) {
    self.owe(parameters_.fragment_release, Category::matching);
    return found;
  }
  self.owe(parameters_.enqueue, Category::matching);
  (receive.source == any_source ? wildcards_ : peers_[static_cast<std::size_t>(receive.source)].receives)
      .append(receive, self.core());
  ++posted_;
  return std::nullopt;
}

std::optional<Envelope> Ob1Matcher::take_unexpected(QueueWalk& walk, Peer& peer, const PostedReceive& receive) {
  for (auto message = peer.unexpected.begin(); message != peer.unexpected.end(); ++message) {
    walk.visit(1);
    if (receive.accepts(*message)) {
      const Envelope envelope = *message;
      peer.unexpected.erase(message);
      --unexpected_;
      return envelope;
    }
  }
  return std::nullopt;
}

} // namespace contend
