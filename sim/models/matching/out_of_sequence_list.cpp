#include "models/matching/out_of_sequence_list.hpp"

#include <cstddef>

namespace contend {

std::int32_t OutOfSequenceList::new_fragment(const Envelope& envelope) {
  if (free_.empty()) {
    fragments_.emplace_back();
    free_.push_back(static_cast<std::int32_t>(fragments_.size() - 1));
  }
  const std::int32_t index = free_.back();
  free_.pop_back();
  fragments_[static_cast<std::size_t>(index)] = {envelope, none};
  return index;
}

std::int64_t OutOfSequenceList::insert(const Envelope& envelope, std::uint16_t expected) {
  // Sequence numbers wrap: compare distances from the expected one.
  const auto distance = [expected](std::uint16_t sequence) { return static_cast<std::uint16_t>(sequence - expected); };
  const std::uint16_t place = distance(envelope.sequence);
  std::size_t after = 0; // number of ranges that lie before the message
  while (after < ranges_.size() && distance(ranges_[after].first) < place) {
    ++after;
  }
  const auto visited = static_cast<std::int64_t>(after) + (after < ranges_.size() ? 1 : 0);

  const std::int32_t fragment = new_fragment(envelope);
  ++size_;
  const auto here = ranges_.begin() + static_cast<std::ptrdiff_t>(after);
  const bool joins_previous = after > 0 && static_cast<std::uint16_t>((here - 1)->last + 1) == envelope.sequence;
  const bool joins_next = here != ranges_.end() && static_cast<std::uint16_t>(envelope.sequence + 1) == here->first;
  if (joins_previous) {
    Range& previous = *(here - 1);
    fragments_[static_cast<std::size_t>(previous.tail)].next = fragment;
    previous.tail = fragment;
    previous.last = envelope.sequence;
    if (joins_next) {
      fragments_[static_cast<std::size_t>(fragment)].next = here->head;
      previous.tail = here->tail;
      previous.last = here->last;
      ranges_.erase(here);
    }
  } else if (joins_next) {
    fragments_[static_cast<std::size_t>(fragment)].next = here->head;
    here->head = fragment;
    here->first = envelope.sequence;
  } else {
    ranges_.insert(here, {envelope.sequence, envelope.sequence, fragment, fragment});
  }
  return visited;
}

std::optional<Envelope> OutOfSequenceList::take(std::uint16_t expected) {
  if (ranges_.empty() || ranges_.front().first != expected) {
    return std::nullopt;
  }
  Range& range = ranges_.front();
  const std::int32_t index = range.head;
  const Fragment& fragment = fragments_[static_cast<std::size_t>(index)];
  const Envelope envelope = fragment.envelope;
  if (fragment.next == none) {
    ranges_.erase(ranges_.begin());
  } else {
    range.head = fragment.next;
    ++range.first;
  }
  free_.push_back(index);
  --size_;
  return envelope;
}

} // namespace contend
