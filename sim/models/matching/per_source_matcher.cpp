#include "models/matching/per_source_matcher.hpp"

#include <string>

namespace contend {

namespace {

/// Some message fits both.
bool overlap(const PostedReceive& one, const PostedReceive& other) {
  return one.communicator == other.communicator &&
         (one.source == any_source || other.source == any_source || one.source == other.source) &&
         (one.tag == any_tag || other.tag == any_tag || one.tag == other.tag);
}

} // namespace

PerSourceMatcher::PerSourceMatcher(const MatcherSetup& setup)
    : host_(setup.host), prices_(setup.prices), reuse_(prices_.element_bytes, prices_.fragment_bytes),
      sources_(static_cast<std::size_t>(setup.peers)) {
  if (!setup.make_lock) {
    return;
  }
  wildcard_lock_ = setup.make_lock(setup.name + "/wildcard queue");
  wildcard_line_ = std::make_unique<CacheLine>(*setup.engine, host_, setup.name + "/wildcard queue head");
  for (std::size_t rank = 0; rank < sources_.size(); ++rank) {
    sources_[rank].state =
        std::make_unique<CacheLine>(*setup.engine, host_, setup.name + "/queues of source " + std::to_string(rank));
  }
}

PerSourceMatcher::Source& PerSourceMatcher::source_of(SimThread& self, int rank) {
  Source& source = sources_[static_cast<std::size_t>(rank)];
  if (source.state) {
    source.state->store_protected(self, Category::line_transfer);
  }
  return source;
}

void PerSourceMatcher::look_at_wildcards(SimThread& self) {
  if (wildcard_line_) {
    wildcard_line_->load(self, Category::line_transfer);
  }
}

void PerSourceMatcher::lock_wildcards(SimThread& self) {
  if (wildcard_lock_) {
    wildcard_lock_->lock(self);
    wildcard_line_->store_protected(self, Category::line_transfer);
    self.settle();
  }
}

void PerSourceMatcher::unlock_wildcards(SimThread& self) {
  if (wildcard_lock_) {
    wildcard_lock_->unlock(self);
  }
}

void PerSourceMatcher::charge_receives(SimThread& self, const QueueWalk& walk) {
  self.owe(walk.price(reuse_.walk_receives(walk.visited(), posted_, unexpected_)), Category::matching);
  visited_ += static_cast<std::uint64_t>(walk.visited());
}

void PerSourceMatcher::charge_messages(SimThread& self, Duration fixed, const QueueWalk& walk) {
  self.owe(fixed + walk.price(reuse_.walk_messages(walk.visited(), unexpected_, posted_)), Category::matching);
  visited_ += static_cast<std::uint64_t>(walk.visited());
}

PostedReceive* PerSourceMatcher::arrive(SimThread& self, const Envelope& envelope) {
  Source& source = source_of(self, envelope.source);
  look_at_wildcards(self);
  self.owe(prices_.attempt, Category::matching);
  // Nothing blocks between a search that fails and what follows from it.
  PostedReceive* match = take_posted(self, source, envelope);
  const bool wildcards = match == nullptr && !wildcards_.empty();
  if (wildcards) {
    lock_wildcards(self);
    match = wildcard_lock_ ? take_posted(self, source, envelope) : nullptr;
    match = match == nullptr ? take_wildcard(self, envelope) : match;
  }
  if (match == nullptr) {
    self.owe(prices_.fragment_for(envelope) + prices_.enqueue, Category::matching);
    source.unexpected.append(envelope);
    ++unexpected_;
  } else {
    --posted_;
  }
  if (wildcards) {
    unlock_wildcards(self);
  }
  return match;
}

PostedReceive* PerSourceMatcher::take_posted(SimThread& self, Source& source, const Envelope& envelope) {
  QueueWalk walk(host_, prices_.element, self.core());
  const std::size_t found = source.posted.find(envelope, walk);
  charge_receives(self, walk);
  return found == ReceiveList::none ? nullptr : source.posted.take(found);
}

PostedReceive* PerSourceMatcher::take_wildcard(SimThread& self, const Envelope& envelope) {
  QueueWalk walk(host_, prices_.element, self.core());
  PostedReceive* match = nullptr;
  for (auto entry = wildcards_.begin(); entry != wildcards_.end() && match == nullptr; ++entry) {
    walk.visit(1);
    if ((*entry)->accepts(envelope)) {
      match = *entry;
      wildcards_.erase(entry);
      break;
    }
  }
  charge_receives(self, walk);
  if (match != nullptr) {
    unpark(self);
  }
  return match;
}

/// Whether one of the first `end` receives of the wildcard queue could take a message that `receive` is for.
bool PerSourceMatcher::stands_before(const PostedReceive& receive, std::size_t end, QueueWalk& walk) const {
  for (std::size_t i = 0; i < end; ++i) {
    walk.visit(1);
    if (overlap(*wildcards_[i], receive)) {
      return true;
    }
  }
  return false;
}

/// Moves parked receives whose turn has come to their source's queue. Their order is kept: what stands before another one
/// leaves before it.
void PerSourceMatcher::unpark(SimThread& self) {
  QueueWalk walk(host_, prices_.element, self.core());
  for (std::size_t i = 0; i < wildcards_.size();) {
    PostedReceive& receive = *wildcards_[i];
    if (receive.source == any_source || stands_before(receive, i, walk)) {
      ++i;
      continue;
    }
    self.owe(prices_.enqueue, Category::matching);
    sources_[static_cast<std::size_t>(receive.source)].posted.append(receive, self.core());
    wildcards_.erase(wildcards_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  charge_receives(self, walk);
}

std::optional<Envelope> PerSourceMatcher::post(SimThread& self, PostedReceive& receive) {
  receive.order = next_order_++;
  return receive.source == any_source ? post_for_any(self, receive) : post_for_source(self, receive);
}

std::optional<Envelope> PerSourceMatcher::post_for_source(SimThread& self, PostedReceive& receive) {
  Source& source = source_of(self, receive.source);
  look_at_wildcards(self);
  QueueWalk walk(host_, prices_.element, self.core());
  if (const std::size_t found = source.unexpected.find(receive, walk); found != UnexpectedList::none) {
    charge_messages(self, prices_.attempt + prices_.fragment_release, walk);
    --unexpected_;
    return source.unexpected.take(found);
  }
  charge_messages(self, prices_.attempt + prices_.enqueue, walk);
  ++posted_;
  if (wildcards_.empty()) {
    source.posted.append(receive, self.core());
    return std::nullopt;
  }
  lock_wildcards(self);
  QueueWalk conflicts(host_, prices_.element, self.core());
  if (stands_before(receive, wildcards_.size(), conflicts)) {
    wildcards_.push_back(&receive);
  } else {
    source.posted.append(receive, self.core());
  }
  charge_receives(self, conflicts);
  unlock_wildcards(self);
  return std::nullopt;
}

std::optional<Envelope> PerSourceMatcher::post_for_any(SimThread& self, PostedReceive& receive) {
  lock_wildcards(self);
  QueueWalk walk(host_, prices_.element, self.core());
  std::optional<Envelope> message;
  for (auto source = sources_.begin(); unexpected_ > 0 && source != sources_.end() && !message; ++source) {
    if (const std::size_t found = source->unexpected.find(receive, walk); found != UnexpectedList::none) {
      message = source->unexpected.take(found);
      --unexpected_;
    }
  }
  charge_messages(self, prices_.attempt + (message ? prices_.fragment_release : prices_.enqueue), walk);
  if (!message) {
    wildcards_.push_back(&receive);
    ++posted_;
  }
  unlock_wildcards(self);
  return message;
}

} // namespace contend
