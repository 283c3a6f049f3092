#include "models/matching/receive_list.hpp"

#include <algorithm>
#include <bit>

namespace contend {

namespace {

// Walks dominate the run time of deep queues: use the processor's wide integer vectors where it has them. Results are
// integers and do not depend on it. (Sanitizers instrument the resolver before they are ready for it.)
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&               \
    !defined(__SANITIZE_THREAD__)
#define CONTEND_WIDE_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define CONTEND_WIDE_VECTORS
#endif

/// Elements that are compared at a time, without a branch in between.
constexpr std::size_t block = 32;

/// Elements per word of the bit sets.
constexpr std::size_t word = 64;

/// What a gap compares as: few receives have it, so that walks seldom stop at a gap.
constexpr std::uint32_t gap_signature = 0x80000001U;

constexpr std::uint64_t bit(std::size_t index) { return std::uint64_t{1} << (index % word); }

} // namespace

void ReceiveList::append(PostedReceive& receive, int core) {
  if (receives_.size() > 2 * size() + 8 * block) {
    close_gaps();
  }
  const std::size_t index = receives_.size();
  if (index % word == 0) {
    linked_.push_back(0);
    cached_.push_back(0);
  }
  signatures_.push_back(signature(receive.communicator, receive.tag));
  receives_.push_back(&receive);
  present_.push_back(CachePresence::bit(core));
  owners_.push_back(static_cast<std::int16_t>(core));
  linked_[index / word] |= bit(index);
  if (viewer_ >= 0 && (present_.back() & CachePresence::bit(viewer_)) != 0) {
    cached_[index / word] |= bit(index);
  }
  ++alive_;
}

/// First index from `index` on whose signature is one of the two.
CONTEND_WIDE_VECTORS std::size_t ReceiveList::next_candidate(std::size_t index, std::uint32_t exact,
                                                             std::uint32_t any) const {
  const std::uint32_t* const signatures = signatures_.data();
  const std::size_t end = signatures_.size();
  for (; index + block <= end; index += block) {
    std::uint32_t hits = 0;
    for (std::size_t i = index; i < index + block; ++i) {
      hits |= static_cast<std::uint32_t>(signatures[i] == exact) | static_cast<std::uint32_t>(signatures[i] == any);
    }
    if (hits != 0) {
      break;
    }
  }
  while (index < end && signatures[index] != exact && signatures[index] != any) {
    ++index;
  }
  return index;
}

std::size_t ReceiveList::find(const Envelope& envelope, QueueWalk& walk) {
  const std::uint32_t exact = signature(envelope.communicator, envelope.tag);
  const std::uint32_t any = signature(envelope.communicator, any_tag);
  const std::size_t end = receives_.size();
  std::size_t index = next_candidate(front_, exact, any);
  while (index < end && (is_gap(index) || !receives_[index]->accepts(envelope))) {
    index = next_candidate(index + 1, exact, any);
  }
  visit_range(std::min(index + 1, end), walk);
  return index < end ? index : none;
}

/// Makes cached_ say what is in the cache of `core`.
void ReceiveList::look_as(int core) {
  viewer_ = core;
  std::fill(cached_.begin(), cached_.end(), 0);
  for (std::size_t i = front_; i < receives_.size(); ++i) {
    if ((present_[i] & CachePresence::bit(core)) != 0) {
      cached_[i / word] |= bit(i);
    }
  }
}

/// Visits all elements from the front to before `end`.
void ReceiveList::visit_range(std::size_t end, QueueWalk& walk) {
  if (viewer_ != walk.core()) {
    look_as(walk.core());
  }
  std::int64_t elements = 0;
  for (std::size_t w = front_ / word; w * word < end; ++w) {
    std::uint64_t visited = linked_[w]; // nothing is linked before the front
    if (end - w * word < word) {
      visited &= bit(end) - 1;
    }
    elements += std::popcount(visited);
    for (std::uint64_t missing = visited & ~cached_[w]; missing != 0; missing &= missing - 1) {
      const std::size_t index = w * word + static_cast<std::size_t>(std::countr_zero(missing));
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
  linked_[index / word] &= ~bit(index);
  --alive_;
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
  linked_.assign((kept + word - 1) / word, ~std::uint64_t{0});
  if (kept % word != 0) {
    linked_.back() = bit(kept) - 1;
  }
  cached_.assign(linked_.size(), 0);
  viewer_ = -1;
}

} // namespace contend
