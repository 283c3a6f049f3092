// Posted receives in posting order, laid out for walking: what a walk looks at lies side by side.
#pragma once

#include "models/matching/matcher.hpp"
#include "models/matching/signature.hpp"

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
  /// The same walk over somebody else's copy of the list: touches no core's cache.
  std::size_t find_in_copy(const Envelope& envelope, std::int64_t& visited) const;

  /// For walks over two lists at once: the first element at or after `index`, its posting order, a visit.
  [[nodiscard]] std::size_t first_from(std::size_t index) const;
  [[nodiscard]] std::size_t first() const { return first_from(front_); }
  [[nodiscard]] std::uint64_t order(std::size_t index) const { return receives_[index]->order; }
  /// Visits one element; returns whether it takes the message.
  bool visit(std::size_t index, const Envelope& envelope, QueueWalk& walk);

  /// Unlinks and returns an element. Indices into the list are invalid afterwards.
  PostedReceive* take(std::size_t index);

private:
  [[nodiscard]] std::size_t search(const Envelope& envelope) const;
  [[nodiscard]] std::size_t search_from(const Envelope& envelope, int source, std::size_t end) const;
  [[nodiscard]] std::uint64_t linked_before(std::size_t w, std::size_t end) const;
  [[nodiscard]] bool is_gap(std::size_t index) const { return receives_[index] == nullptr; }
  void visit_range(std::size_t end, QueueWalk& walk);
  void look_as(int core);
  void close_gaps();

  // One element per index.
  std::vector<Signature> signatures_;
  std::vector<PostedReceive*> receives_; ///< nullptr: a gap
  std::vector<std::uint64_t> present_;   ///< see CachePresence
  std::vector<std::int16_t> owners_;

  // One bit per element.
  std::vector<std::uint64_t> linked_; ///< not a gap
  std::vector<std::uint64_t> cached_; ///< in the cache of viewer_; derived from present_
  int viewer_ = -1;                   ///< core that walked last
  std::size_t front_ = 0;             ///< everything before is a gap
  std::size_t alive_ = 0;
  std::size_t from_anywhere_ = 0; ///< of these, how many are for any source
};

/// An element of one of several lists.
struct ListPlace {
  ReceiveList* list = nullptr; ///< nullptr: nowhere
  std::size_t index = ReceiveList::none;
};

/// Walks two lists at once, always looking at the older of the two next elements, to the first that takes the message.
ListPlace find_in_both(ReceiveList& first, ReceiveList& second, const Envelope& envelope, QueueWalk& walk);

} // namespace contend
