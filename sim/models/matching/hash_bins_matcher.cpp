#include "models/matching/hash_bins_matcher.hpp"

#include "models/matching/signature.hpp"

namespace contend {

namespace {

constexpr std::int64_t head_bytes = 16; ///< first and last element of a bin

} // namespace

HashBinsMatcher::HashBinsMatcher(const MatcherSetup& setup)
    : host_(setup.host), prices_(setup.prices), reuse_(prices_.element_bytes, prices_.fragment_bytes),
      bins_(static_cast<std::size_t>(setup.sizes.bins)), receives_(bins_ + 1), message_bins_(bins_), messages_(1),
      head_users_(bins_ + 1, -1) {}

std::size_t HashBinsMatcher::bin_of(int communicator, int source, int tag) const {
  return hash_of(communicator, source, tag) % bins_;
}

void HashBinsMatcher::use_head(std::size_t list, QueueWalk& walk) {
  std::int16_t& user = head_users_[list];
  if (user >= 0 && user != walk.core()) {
    walk.fetch_from(user);
  }
  user = static_cast<std::int16_t>(walk.core());
}

const PostedReceive& HashBinsMatcher::visit(Receives::Node node, QueueWalk& walk) {
  Receive& element = receives_[node];
  walk.visit(1);
  if ((element.present & CachePresence::bit(walk.core())) == 0) {
    element.present |= CachePresence::bit(walk.core());
    walk.fetch_from(element.owner);
  }
  return *element.receive;
}

PostedReceive* HashBinsMatcher::take(std::size_t list, Receives::Node node) {
  PostedReceive* const receive = receives_[node].receive;
  receives_.erase(list, node);
  --posted_;
  return receive;
}

void HashBinsMatcher::charge(SimThread& self, const QueueWalk& walk, std::int64_t footprint) {
  const std::int64_t heads = static_cast<std::int64_t>(bins_) * head_bytes;
  self.owe(prices_.attempt + walk.price(footprint + heads), Category::matching);
  visited_ += static_cast<std::uint64_t>(walk.visited());
}

PostedReceive* HashBinsMatcher::arrive(SimThread& self, const Envelope& envelope) {
  QueueWalk walk(host_, prices_.element, self.core());
  const std::size_t bin = bin_of(envelope.communicator, envelope.source, envelope.tag);
  self.owe(prices_.hash, Category::matching);
  use_head(bin, walk);
  Receives::Node specific = receives_.front(bin);
  while (specific != Receives::none && !visit(specific, walk).accepts(envelope)) {
    specific = receives_.next(specific);
  }
  Receives::Node wildcard = receives_.front(wildcards());
  if (wildcard != Receives::none) {
    use_head(wildcards(), walk);
  }
  while (wildcard != Receives::none) {
    const PostedReceive& receive = visit(wildcard, walk);
    if (specific != Receives::none && receive.order > receives_[specific].receive->order) {
      wildcard = Receives::none; // all that follow are younger still
    } else if (receive.accepts(envelope)) {
      break;
    } else {
      wildcard = receives_.next(wildcard);
    }
  }
  charge(self, walk, reuse_.walk_receives(walk.visited(), posted_, unexpected_));
  if (wildcard != Receives::none) {
    return take(wildcards(), wildcard);
  }
  if (specific != Receives::none) {
    return take(bin, specific);
  }
  self.owe(prices_.fragment_for(envelope) + 2 * prices_.enqueue, Category::matching); // into the bin and the list
  const Messages::Node message = messages_.push_back(0, {envelope, MessageBins::none});
  messages_[message].in_bin = message_bins_.push_back(bin, message);
  ++unexpected_;
  return nullptr;
}

HashBinsMatcher::Messages::Node HashBinsMatcher::find_message(const PostedReceive& receive, QueueWalk& walk) {
  if (receive.has_wildcard()) {
    Messages::Node message = messages_.front(0);
    for (; message != Messages::none; message = messages_.next(message)) {
      walk.visit(1);
      if (receive.accepts(messages_[message].envelope)) {
        break;
      }
    }
    return message;
  }
  const std::size_t bin = bin_of(receive.communicator, receive.source, receive.tag);
  for (MessageBins::Node node = message_bins_.front(bin); node != MessageBins::none; node = message_bins_.next(node)) {
    walk.visit(1);
    if (receive.accepts(messages_[message_bins_[node]].envelope)) {
      return message_bins_[node];
    }
  }
  return Messages::none;
}

std::optional<Envelope> HashBinsMatcher::post(SimThread& self, PostedReceive& receive) {
  receive.order = next_order_++;
  QueueWalk walk(host_, prices_.element, self.core());
  const bool wildcard = receive.has_wildcard();
  const std::size_t list = wildcard ? wildcards() : bin_of(receive.communicator, receive.source, receive.tag);
  if (!wildcard) {
    self.owe(prices_.hash, Category::matching);
  }
  use_head(list, walk);
  const Messages::Node found = find_message(receive, walk);
  charge(self, walk, reuse_.walk_messages(walk.visited(), unexpected_, posted_));
  if (found == Messages::none) {
    self.owe(prices_.enqueue, Category::matching);
    receives_.push_back(list, {&receive, CachePresence::bit(self.core()), self.core()});
    ++posted_;
    return std::nullopt;
  }
  self.owe(prices_.fragment_release, Category::matching);
  const Message message = messages_[found];
  message_bins_.erase(bin_of(message.envelope.communicator, message.envelope.source, message.envelope.tag),
                      message.in_bin);
  messages_.erase(0, found);
  --unexpected_;
  return message.envelope;
}

} // namespace contend
