// A queue packed for comparing several elements at once: blocks of slots whose keys lie side by side.
#pragma once

#include "models/matching/queue_walk.hpp"
#include "models/matching/signature.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace contend {

/// A linked list of blocks with `width` slots each. Elements are appended to the last block. A removed element leaves a
/// hole; holes at the end are used again, and a block without elements is unlinked. A walk visits blocks: one step each,
/// whatever their number of elements. A block is a unit of caching too: whoever writes into it takes it away from the
/// others.
template <typename Value>
class PackedQueue {
public:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  explicit PackedQueue(int width) : width_(static_cast<std::size_t>(width)) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  /// Blocks that a walk over everything visits.
  [[nodiscard]] std::size_t blocks() const { return linked_blocks_; }

  /// Writes an element behind the last one.
  void append(Signature signature, Value value, QueueWalk& walk) {
    if (blocks_.size() > 2 * linked_blocks_ + empty_blocks_worth_dropping) {
      drop_empty_blocks();
    }
    if (values_.size() % width_ == 0) {
      blocks_.push_back({CachePresence::bit(walk.core()), walk.core(), 0});
      ++linked_blocks_;
    } else {
      write(blocks_.back(), walk);
    }
    ++blocks_.back().elements;
    signatures_.push_back(signature);
    values_.push_back(std::move(value));
    occupied_.push_back(1);
    ++size_;
  }

  /// Walks to the first element with one of two signatures for which accepts(value) holds. Returns its place or none.
  template <typename Accepts>
  std::size_t find(Signature exact, Signature any, QueueWalk& walk, const Accepts& accepts) {
    std::size_t place = find_signature(signatures_, front_ * width_, values_.size(), exact, any);
    while (place < values_.size() && !(occupied_[place] != 0 && accepts(values_[place]))) {
      place = find_signature(signatures_, place + 1, values_.size(), exact, any);
    }
    return walk_to(place, walk);
  }
  /// The same among all elements.
  template <typename Accepts>
  std::size_t find(QueueWalk& walk, const Accepts& accepts) {
    std::size_t place = front_ * width_;
    while (place < values_.size() && !(occupied_[place] != 0 && accepts(values_[place]))) {
      ++place;
    }
    return walk_to(place, walk);
  }

  /// Removes and returns an element. Places are invalid afterwards.
  Value take(std::size_t place, QueueWalk& walk) {
    Value value = std::move(values_[place]);
    signatures_[place] = gap_signature;
    occupied_[place] = 0;
    --size_;
    Block& block = blocks_[place / width_];
    write(block, walk);
    if (--block.elements == 0) {
      --linked_blocks_;
    }
    while (!occupied_.empty() && occupied_.back() == 0) {
      signatures_.pop_back();
      values_.pop_back();
      occupied_.pop_back();
    }
    blocks_.resize((values_.size() + width_ - 1) / width_);
    while (front_ < blocks_.size() && blocks_[front_].elements == 0) {
      ++front_;
    }
    front_ = std::min(front_, blocks_.size());
    return value;
  }

private:
  static constexpr std::size_t empty_blocks_worth_dropping = 32;

  struct Block {
    std::uint64_t present = 0; ///< see CachePresence
    int owner = 0;             ///< core that wrote last
    int elements = 0;          ///< 0: not linked
  };

  /// A core writes into a block: it needs it, and is the only one to have it afterwards.
  static void write(Block& block, QueueWalk& walk) {
    if ((block.present & CachePresence::bit(walk.core())) == 0) {
      walk.fetch_from(block.owner);
    }
    block.present = CachePresence::bit(walk.core());
    block.owner = walk.core();
  }

  std::size_t walk_to(std::size_t place, QueueWalk& walk) {
    const std::size_t end = std::min(place / width_ + 1, blocks_.size());
    std::int64_t steps = 0;
    for (std::size_t i = front_; i < end; ++i) {
      Block& block = blocks_[i];
      if (block.elements == 0) {
        continue;
      }
      ++steps;
      if ((block.present & CachePresence::bit(walk.core())) == 0) {
        block.present |= CachePresence::bit(walk.core());
        walk.fetch_from(block.owner);
      }
    }
    walk.visit(steps);
    return place < values_.size() ? place : none;
  }

  void drop_empty_blocks() {
    std::size_t kept = 0;
    for (std::size_t i = front_; i < blocks_.size(); ++i) {
      if (blocks_[i].elements == 0) {
        continue;
      }
      blocks_[kept] = blocks_[i];
      const std::size_t slots = std::min(width_, values_.size() - i * width_); // the last block may be short
      for (std::size_t slot = 0; slot < slots; ++slot) {
        signatures_[kept * width_ + slot] = signatures_[i * width_ + slot];
        values_[kept * width_ + slot] = values_[i * width_ + slot];
        occupied_[kept * width_ + slot] = occupied_[i * width_ + slot];
      }
      if (i + 1 == blocks_.size()) {
        const std::size_t rest = kept * width_ + slots;
        signatures_.resize(rest);
        values_.resize(rest);
        occupied_.resize(rest);
      }
      ++kept;
    }
    blocks_.resize(kept);
    front_ = 0;
  }

  std::size_t width_;
  // One element per slot, blocks one after the other. The last slot is never a hole.
  std::vector<Signature> signatures_;
  std::vector<Value> values_;
  std::vector<std::uint8_t> occupied_;
  std::vector<Block> blocks_;
  std::size_t front_ = 0; ///< blocks before it are empty
  std::size_t linked_blocks_ = 0;
  std::size_t size_ = 0;
};

} // namespace contend
