#include "models/matching/ob1_matcher.hpp"

namespace contend {

Ob1Matcher::Ob1Matcher(const Host& host, const MatchingParameters& parameters, int peers)
    : host_(host), parameters_(parameters), peers_(static_cast<std::size_t>(peers)) {}

PostedReceive* Ob1Matcher::arrive(SimThread& self, const Envelope& envelope) {
  Peer& peer = peers_[static_cast<std::size_t>(envelope.source)];
  QueueWalk walk(host_, parameters_.element, self.core());
  // Both lists are in posting order: always look at the older of the two heads first.
  PostedReceive* specific = peer.receives.head();
  PostedReceive* wildcard = wildcards_.head();
  PostedReceive* match = nullptr;
  while (match == nullptr && (specific != nullptr || wildcard != nullptr)) {
    const bool take_specific = wildcard == nullptr || (specific != nullptr && specific->order < wildcard->order);
    PostedReceive*& candidate = take_specific ? specific : wildcard;
    walk.visit(candidate->presence);
    if (candidate->accepts(envelope)) {
      match = candidate;
    } else {
      candidate = candidate->next;
    }
  }
  self.spend(parameters_.attempt + walk.price(footprint()), Category::matching);
  visited_ += static_cast<std::uint64_t>(walk.visited());
  if (match != nullptr) {
    (match->source == any_source ? wildcards_ : peer.receives).unlink(*match);
    --posted_;
  } else {
    self.spend(parameters_.fragment_allocate + parameters_.enqueue, Category::matching);
    peer.unexpected.push_back(envelope);
    ++unexpected_;
  }
  return match;
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
  self.spend(parameters_.attempt + walk.price(footprint()), Category::matching);
  visited_ += static_cast<std::uint64_t>(walk.visited());
  if (found) {
    self.spend(parameters_.fragment_release, Category::matching);
    return found;
  }
  self.spend(parameters_.enqueue, Category::matching);
  receive.presence.written_by(self.core());
  (receive.source == any_source ? wildcards_ : peers_[static_cast<std::size_t>(receive.source)].receives)
      .append(receive);
  ++posted_;
  return std::nullopt;
}

std::optional<Envelope> Ob1Matcher::take_unexpected(QueueWalk& walk, Peer& peer, const PostedReceive& receive) {
  for (auto message = peer.unexpected.begin(); message != peer.unexpected.end(); ++message) {
    walk.visit();
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
