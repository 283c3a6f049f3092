#include "models/matching/receive_list.hpp"

#include "models/matching/bit_words.hpp"

#include <algorithm>
#include <bit>

namespace contend {

namespace {

/// Gaps at the front and inside are closed when there are many.
constexpr std::size_t receive_gaps_worth_closing = 256;

} // namespace

void ReceiveList::append(PostedReceive& receive, int core) {
  if (receives_.size() > 2 * size() + receive_gaps_worth_closing) {
    close_gaps();
  }
  const std::size_t index = receives_.size();
  if (index % word_bits == 0) {
    linked_.push_back(0);
    cached_.push_back(0);
  }
  signatures_.push_back(signature(receive.communicator, receive.source, receive.tag));
  receives_.push_back(&receive);
  present_.push_back(CachePresence::bit(core));
  owners_.push_back(static_cast<std::int16_t>(core));
  linked_[index / word_bits] |= bit_of(index);
  if (viewer_ >= 0 && (present_.back() & CachePresence::bit(viewer_)) != 0) {
    cached_[index / word_bits] |= bit_of(index);
  }
  ++alive_;
  from_anywhere_ += receive.source == any_source ? 1 : 0;
}

std::size_t ReceiveList::search(const Envelope& envelope) const {
  std::size_t found = receives_.size();
  if (from_anywhere_ < alive_) {
    found = search_from(envelope, envelope.source, found);
  }
  if (from_anywhere_ > 0) {
    found = search_from(envelope, any_source, found);
  }
  return found < receives_.size() ? found : none;
}

/// The first before `end` that names this source, or any_source, and takes the message; `end` if none does.
std::size_t ReceiveList::search_from(const Envelope& envelope, int source, std::size_t end) const {
  const Signature exact = signature(envelope.communicator, source, envelope.tag);
  const Signature any = signature(envelope.communicator, source, any_tag);
  std::size_t index = find_signature(signatures_, front_, end, exact, any);
  while (index < end && (is_gap(index) || !receives_[index]->accepts(envelope))) {
    index = find_signature(signatures_, index + 1, end, exact, any);
  }
  return index;
}

std::size_t ReceiveList::find(const Envelope& envelope, QueueWalk& walk) {
  const std::size_t index = search(envelope);
  visit_range(index == none ? receives_.size() : index + 1, walk);
  return index;
}

std::size_t ReceiveList::find_in_copy(const Envelope& envelope, std::int64_t& visited) const {
  const std::size_t index = search(envelope);
  const std::size_t end = index == none ? receives_.size() : index + 1;
  visited = 0;
  for (std::size_t w = front_ / word_bits; w * word_bits < end; ++w) {
    visited += count_elements(linked_before(w, end));
  }
  return index;
}

/// The linked elements of a word_bits that lie before `end`; the word_bits begins before it.
std::uint64_t ReceiveList::linked_before(std::size_t w, std::size_t end) const {
  return end - w * word_bits < word_bits ? linked_[w] & (bit_of(end) - 1)
                                         : linked_[w]; // nothing is linked before the front
}

/// Makes cached_ say what is in the cache of `core`.
void ReceiveList::look_as(int core) {
  viewer_ = core;
  std::fill(cached_.begin(), cached_.end(), 0);
  for (std::size_t i = front_; i < receives_.size(); ++i) {
    if ((present_[i] & CachePresence::bit(core)) != 0) {
      cached_[i / word_bits] |= bit_of(i);
    }
  }
}

/// Visits all elements from the front to before `end`.
void ReceiveList::visit_range(std::size_t end, QueueWalk& walk) {
  if (viewer_ != walk.core()) {
    look_as(walk.core());
  }
  std::int64_t elements = 0;
  for (std::size_t w = front_ / word_bits; w * word_bits < end; ++w) {
    const std::uint64_t visited = linked_before(w, end);
    elements += count_elements(visited);
    for (std::uint64_t missing = visited & ~cached_[w]; missing != 0; missing &= missing - 1) {
      const std::size_t index = w * word_bits + static_cast<std::size_t>(std::countr_zero(missing));
      present_[index] |= CachePresence::bit(viewer_);
      walk.fetch_from(owners_[index]);
    }
    cached_[w] |= visited;
  }
  walk.visit(elements);
}

std::size_t ReceiveList::first_from(std::size_t index) const {
  while (index < receives_.size() && is_gap(index)) {
    ++index;
  }
  return index < receives_.size() ? index : none;
}

bool ReceiveList::visit(std::size_t index, const Envelope& envelope, QueueWalk& walk) {
  walk.visit(1);
  if ((present_[index] & CachePresence::bit(walk.core())) == 0) {
    present_[index] |= CachePresence::bit(walk.core());
    walk.fetch_from(owners_[index]);
    viewer_ = -1; // cached_ is stale
  }
  return receives_[index]->accepts(envelope);
}

PostedReceive* ReceiveList::take(std::size_t index) {
  PostedReceive* const taken = receives_[index];
  receives_[index] = nullptr;
  signatures_[index] = gap_signature;
  linked_[index / word_bits] &= ~bit_of(index);
  --alive_;
  from_anywhere_ -= taken->source == any_source ? 1 : 0;
  if (alive_ == 0) {
    front_ = receives_.size();
  } else if (index == front_) {
    front_ = first_from(front_);
  }
  return taken;
}

void ReceiveList::close_gaps() {
  std::size_t kept = 0;
  for (std::size_t i = front_; i < receives_.size(); ++i) {
    if (!is_gap(i)) {
      signatures_[kept] = signatures_[i];
      receives_[kept] = receives_[i];
      present_[kept] = present_[i];
      owners_[kept] = owners_[i];
      ++kept;
    }
  }
  signatures_.resize(kept);
  receives_.resize(kept);
  present_.resize(kept);
  owners_.resize(kept);
  front_ = 0;
  linked_.assign((kept + word_bits - 1) / word_bits, ~std::uint64_t{0});
  if (kept % word_bits != 0) {
    linked_.back() = bit_of(kept) - 1;
  }
  cached_.assign(linked_.size(), 0);
  viewer_ = -1;
}

ListPlace find_in_both(ReceiveList& first, ReceiveList& second, const Envelope& envelope, QueueWalk& walk) {
  if (first.empty() || second.empty()) {
    ReceiveList& list = first.empty() ? second : first;
    const std::size_t index = list.find(envelope, walk);
    return index == ReceiveList::none ? ListPlace{} : ListPlace{&list, index};
  }
  std::size_t in_first = first.first();
  std::size_t in_second = second.first();
  while (in_first != ReceiveList::none || in_second != ReceiveList::none) {
    const bool take_first = in_second == ReceiveList::none ||
                            (in_first != ReceiveList::none && first.order(in_first) < second.order(in_second));
    ReceiveList& list = take_first ? first : second;
    std::size_t& index = take_first ? in_first : in_second;
    if (list.visit(index, envelope, walk)) {
      return {&list, index};
    }
    index = list.first_from(index + 1);
  }
  return {};
}

} // namespace contend
