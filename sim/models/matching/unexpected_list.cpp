#include "models/matching/unexpected_list.hpp"

#include "models/matching/bit_words.hpp"

#include <algorithm>

namespace contend {

namespace {

constexpr std::size_t message_gaps_worth_closing = 64;

} // namespace

bool UnexpectedList::linked(std::size_t index) const { return (linked_[index / word_bits] & bit_of(index)) != 0; }

void UnexpectedList::append(const Envelope& envelope) {
  if (messages_.size() > 2 * alive_ + message_gaps_worth_closing) {
    close_gaps();
  }
  const std::size_t index = messages_.size();
  if (index % word_bits == 0) {
    linked_.push_back(0);
  }
  signatures_.push_back(signature(envelope.communicator, envelope.tag));
  messages_.push_back(envelope);
  linked_[index / word_bits] |= bit_of(index);
  ++alive_;
}

std::size_t UnexpectedList::find(const PostedReceive& receive, QueueWalk& walk) const {
  const std::size_t end = messages_.size();
  std::size_t index = front_;
  if (receive.tag == any_tag) {
    while (index < end && !(linked(index) && receive.accepts(messages_[index]))) {
      ++index;
    }
  } else {
    const Signature wanted = signature(receive.communicator, receive.tag);
    index = find_signature(signatures_, index, end, wanted, wanted);
    while (index < end && !(linked(index) && receive.accepts(messages_[index]))) {
      index = find_signature(signatures_, index + 1, end, wanted, wanted);
    }
  }
  std::int64_t visited = 0;
  const std::size_t walked = std::min(index + 1, end);
  for (std::size_t w = front_ / word_bits; w * word_bits < walked; ++w) {
    const std::uint64_t before_end = walked - w * word_bits < word_bits ? bit_of(walked) - 1 : ~std::uint64_t{0};
    visited += count_elements(linked_[w] & before_end); // nothing is linked before the front
  }
  walk.visit(visited);
  return index < end ? index : none;
}

Envelope UnexpectedList::take(std::size_t index) {
  signatures_[index] = gap_signature;
  linked_[index / word_bits] &= ~bit_of(index);
  --alive_;
  while (front_ < messages_.size() && !linked(front_)) {
    ++front_;
  }
  return messages_[index];
}

void UnexpectedList::close_gaps() {
  std::size_t kept = 0;
  for (std::size_t i = front_; i < messages_.size(); ++i) {
    if (linked(i)) {
      signatures_[kept] = signatures_[i];
      messages_[kept] = messages_[i];
      ++kept;
    }
  }
  signatures_.resize(kept);
  messages_.resize(kept);
  linked_.assign((kept + word_bits - 1) / word_bits, ~std::uint64_t{0});
  if (kept % word_bits != 0) {
    linked_.back() = bit_of(kept) - 1;
  }
  front_ = 0;
}

} // namespace contend
