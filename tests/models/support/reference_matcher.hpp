// MPI's matching rules in their plainest form: two vectors, searched from the front.
#pragma once

#include "models/matching/matcher.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace contend::test {

class ReferenceMatcher {
public:
  /// The receive that a message takes, or nullptr; then the message is kept.
  const PostedReceive* arrive(const Envelope& envelope) {
    for (auto receive = posted_.begin(); receive != posted_.end(); ++receive) {
      if (fits(**receive, envelope)) {
        const PostedReceive* const match = *receive;
        posted_.erase(receive);
        return match;
      }
    }
    unexpected_.push_back(envelope);
    return nullptr;
  }

  /// Whether a receive may take `message` (told by its `bytes`): it fits, and nothing older of its source does. MPI orders
  /// messages of one source only, so a receive from any source may have a choice.
  bool may_take(const PostedReceive& receive, const Envelope& message) const {
    const auto first = std::find_if(unexpected_.begin(), unexpected_.end(), [&](const Envelope& candidate) {
      return candidate.source == message.source && fits(receive, candidate);
    });
    return first != unexpected_.end() && first->bytes == message.bytes;
  }
  bool may_wait(const PostedReceive& receive) const {
    return std::none_of(unexpected_.begin(), unexpected_.end(),
                        [&](const Envelope& candidate) { return fits(receive, candidate); });
  }
  void take(const Envelope& message) {
    std::erase_if(unexpected_, [&](const Envelope& candidate) { return candidate.bytes == message.bytes; });
  }
  void append(const PostedReceive& receive) { posted_.push_back(&receive); }

  [[nodiscard]] std::size_t posted() const { return posted_.size(); }
  [[nodiscard]] std::size_t unexpected() const { return unexpected_.size(); }

private:
  /// Written out again, on purpose. Negative tags are the library's own: ANY_TAG is for the application's.
  static bool fits(const PostedReceive& receive, const Envelope& envelope) {
    if (receive.communicator != envelope.communicator) {
      return false;
    }
    if (receive.source != any_source && receive.source != envelope.source) {
      return false;
    }
    if (receive.tag == any_tag) {
      return envelope.tag >= 0;
    }
    return receive.tag == envelope.tag;
  }

  std::vector<const PostedReceive*> posted_;
  std::vector<Envelope> unexpected_;
};

} // namespace contend::test
