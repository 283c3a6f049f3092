// Messages that arrived before their receive, in order of arrival, laid out for walking like ReceiveList.
#pragma once

#include "models/matching/matcher.hpp"
#include "models/matching/signature.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace contend {

/// A linked list as the library sees it: a receive visits the messages from the oldest on, and any can be unlinked. The
/// transfers that bring a message's header to the core that looks at it are part of the price of keeping the message
/// (MatchingParameters::fragment_allocate).
class UnexpectedList {
public:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  [[nodiscard]] bool empty() const { return alive_ == 0; }
  [[nodiscard]] std::size_t size() const { return alive_; }

  void append(const Envelope& envelope);

  /// Walks from the oldest message to the first that the receive accepts, visiting every message on the way. Returns its
  /// index, or none after a walk over the whole list.
  std::size_t find(const PostedReceive& receive, QueueWalk& walk) const;

  /// Unlinks and returns a message. Indices into the list are invalid afterwards.
  Envelope take(std::size_t index);

private:
  [[nodiscard]] bool linked(std::size_t index) const;
  void close_gaps();

  // One element per index.
  std::vector<Signature> signatures_;
  std::vector<Envelope> messages_;

  std::vector<std::uint64_t> linked_; ///< one bit per element; clear: a gap
  std::size_t front_ = 0;             ///< everything before is a gap
  std::size_t alive_ = 0;
};

} // namespace contend
