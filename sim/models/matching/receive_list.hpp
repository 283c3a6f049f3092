// Posted receives in posting order, laid out for walking: what a walk looks at lies side by side.
#pragma once

#include "models/matching/matcher.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace contend {

/// A linked list as the library sees it: elements are visited from the front, one by one, and any can be unlinked. Kept
/// in arrays with gaps, because walking real pointers would make the simulation as slow as the library.
class ReceiveList {
public:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  [[nodiscard]] bool empty() const { return alive_ == 0; }
  [[nodiscard]] std::size_t size() const { return alive_; }

  /// Links a receive in at the end; `core` has just written it.
  void append(PostedReceive& receive, int core);

  /// Walks from the front to the first element that takes the message, visiting every element on the way.
  /// Returns its index, or none after a walk over the whole list.
  std::size_t find(const Envelope& envelope, QueueWalk& walk);

  /// For walks over two lists at once: the first element at or after `index`, its posting order, a visit.
  [[nodiscard]] std::size_t first_from(std::size_t index) const;
  [[nodiscard]] std::size_t first() const { return first_from(front_); }
  [[nodiscard]] std::uint64_t order(std::size_t index) const { return receives_[index]->order; }
  /// Visits one element; returns whether it takes the message.
  bool visit(std::size_t index, const Envelope& envelope, QueueWalk& walk);

  /// Unlinks and returns an element. Indices into the list are invalid afterwards.
  PostedReceive* take(std::size_t index);

private:
  static constexpr std::int64_t gap = std::numeric_limits<std::int64_t>::min();

  [[nodiscard]] static std::int64_t key(int communicator, int tag) {
    return std::int64_t{communicator} << 32 | static_cast<std::uint32_t>(tag);
  }
  /// The key that a receive with ANY_TAG has, if it may take the message: the library's own tags are negative.
  [[nodiscard]] static std::int64_t wildcard_key(const Envelope& envelope) {
    return key(envelope.communicator, envelope.tag >= 0 ? any_tag : envelope.tag);
  }
  void visit_range(std::size_t end, QueueWalk& walk);
  void close_gaps();

  // One element per index.
  std::vector<std::int64_t> keys_; ///< communicator and tag, or gap
  std::vector<std::uint64_t> present_; ///< see CachePresence; all ones in gaps
  std::vector<std::int16_t> owners_;
  std::vector<PostedReceive*> receives_;
  std::size_t front_ = 0; ///< everything before is a gap
  std::size_t alive_ = 0;
};

} // namespace contend
