// Messages of one peer that arrived before their turn, ordered by sequence number; neighbours join into ranges
// (Open MPI 4.0, ob1: ordered fragment list).
#pragma once

#include "models/matching/envelope.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace contend {

class OutOfSequenceList {
public:
  /// Inserts a message that is not the expected one. Returns how many ranges the walk to its place visited. A message
  /// beyond all others is found from the front, one before the first at once, as in ob1.
  std::int64_t insert(const Envelope& envelope, std::uint16_t expected);

  /// Removes and returns the first message if it is the expected one.
  std::optional<Envelope> take(std::uint16_t expected);

  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::size_t ranges() const { return ranges_.size(); }

private:
  static constexpr std::int32_t none = -1;

  /// A kept message; messages of a range are chained.
  struct Fragment {
    Envelope envelope;
    std::int32_t next = none;
  };
  /// Messages with consecutive sequence numbers.
  struct Range {
    std::uint16_t first;
    std::uint16_t last;
    std::int32_t head;
    std::int32_t tail;
  };

  std::int32_t new_fragment(const Envelope& envelope);

  std::vector<Range> ranges_; ///< in sequence order
  std::vector<Fragment> fragments_;
  std::vector<std::int32_t> free_;
  std::int64_t size_ = 0;
};

} // namespace contend
