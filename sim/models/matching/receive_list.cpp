#include "models/matching/receive_list.hpp"

#include <algorithm>

namespace contend {

namespace {

// Walks dominate the run time of deep queues: use the processor's wide integer vectors where it has them. Results are
// integers and do not depend on it. (Sanitizers instrument the resolver before they are ready for it.)
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CONTEND_WIDE_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define CONTEND_WIDE_VECTORS
#endif

/// Elements that are compared at a time, without a branch in between.
constexpr std::size_t block = 16;

} // namespace

void ReceiveList::append(PostedReceive& receive, int core) {
  if (keys_.size() > 2 * alive_ + 4 * block) {
    close_gaps();
  }
  keys_.push_back(key(receive.communicator, receive.tag));
  present_.push_back(CachePresence::bit(core));
  owners_.push_back(static_cast<std::int16_t>(core));
  receives_.push_back(&receive);
  ++alive_;
}

CONTEND_WIDE_VECTORS std::size_t ReceiveList::find(const Envelope& envelope, QueueWalk& walk) {
  const std::int64_t exact = key(envelope.communicator, envelope.tag);
  const std::int64_t any = wildcard_key(envelope);
  const std::int64_t* const keys = keys_.data();
  const std::size_t end = keys_.size();
  std::size_t index = front_;
  for (; index + block <= end; index += block) {
    int hits = 0;
    for (std::size_t i = 0; i < block; ++i) {
      hits |= static_cast<int>(keys[index + i] == exact) | static_cast<int>(keys[index + i] == any);
    }
    if (hits != 0) {
      break;
    }
  }
  while (index < end && keys[index] != exact && keys[index] != any) {
    ++index;
  }
  visit_range(std::min(index + 1, end), walk);
  return index < end ? index : none;
}

/// Visits all elements from the front to before `end`.
CONTEND_WIDE_VECTORS void ReceiveList::visit_range(std::size_t end, QueueWalk& walk) {
  std::int64_t elements = 0;
  for (std::size_t i = front_; i < end; ++i) {
    elements += keys_[i] != gap ? 1 : 0;
  }
  walk.visit(elements);
  const std::uint64_t bit = CachePresence::bit(walk.core());
  for (std::size_t start = front_; start < end; start += block) {
    const std::size_t stop = std::min(start + block, end);
    std::uint64_t all = ~std::uint64_t{0};
    for (std::size_t i = start; i < stop; ++i) {
      all &= present_[i];
    }
    if ((all & bit) != 0) {
      continue;
    }
    for (std::size_t i = start; i < stop; ++i) {
      if ((present_[i] & bit) == 0) {
        present_[i] |= bit;
        walk.fetch_from(owners_[i]);
      }
    }
  }
}

std::size_t ReceiveList::first_from(std::size_t index) const {
  while (index < keys_.size() && keys_[index] == gap) {
    ++index;
  }
  return index < keys_.size() ? index : none;
}

bool ReceiveList::visit(std::size_t index, const Envelope& envelope, QueueWalk& walk) {
  walk.visit(1);
  const std::uint64_t bit = CachePresence::bit(walk.core());
  if ((present_[index] & bit) == 0) {
    present_[index] |= bit;
    walk.fetch_from(owners_[index]);
  }
  return keys_[index] == key(envelope.communicator, envelope.tag) || keys_[index] == wildcard_key(envelope);
}

PostedReceive* ReceiveList::take(std::size_t index) {
  keys_[index] = gap;
  present_[index] = ~std::uint64_t{0};
  --alive_;
  if (alive_ == 0) {
    front_ = keys_.size();
  } else if (index == front_) {
    front_ = first_from(front_);
  }
  return receives_[index];
}

void ReceiveList::close_gaps() {
  std::size_t kept = 0;
  for (std::size_t i = front_; i < keys_.size(); ++i) {
    if (keys_[i] != gap) {
      keys_[kept] = keys_[i];
      present_[kept] = present_[i];
      owners_[kept] = owners_[i];
      receives_[kept] = receives_[i];
      ++kept;
    }
  }
  keys_.resize(kept);
  present_.resize(kept);
  owners_.resize(kept);
  receives_.resize(kept);
  front_ = 0;
}

} // namespace contend
