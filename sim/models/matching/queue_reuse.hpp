// How much goes through a core's caches until a queue of a matching engine is walked again.
#pragma once

#include <algorithm>
#include <cstdint>

namespace contend {

/// The two queues of a matching engine, whose walks take turns: arrivals go through the posted receives, posts through the
/// unexpected messages. A walk comes back to a queue after the rest of it, and after what has been walked of the other one since. That
/// is all of the other one at most, and nothing of it where it only grows: tens of thousands of messages that wait for their
/// receives do not evict the receives that each further message is compared with. A walk that visits anything counts as one that comes as
/// far as the next will.
class QueueReuse {
public:
  /// Bytes of one posted receive, and of one unexpected message.
  QueueReuse(std::int64_t receive_bytes, std::int64_t message_bytes)
      : receives_{receive_bytes, 0}, messages_{message_bytes, 0} {}

  /// Bytes that a walk over the receives goes through until it comes back to the same one. `visited` receives, of `posted`, were
  /// walked through, beside `unexpected` messages.
  [[nodiscard]] std::int64_t walk_receives(std::int64_t visited, std::int64_t posted, std::int64_t unexpected) {
    return walk(receives_, visited * receives_.bytes, posted * receives_.bytes, messages_,
                unexpected * messages_.bytes);
  }
  /// The same of a walk over the messages.
  [[nodiscard]] std::int64_t walk_messages(std::int64_t visited, std::int64_t unexpected, std::int64_t posted) {
    return walk(messages_, visited * messages_.bytes, unexpected * messages_.bytes, receives_,
                posted * receives_.bytes);
  }

private:
  struct Queue {
    std::int64_t bytes;  ///< of an element
    std::int64_t walked; ///< bytes, since the other queue was walked
  };

  static std::int64_t walk(Queue& one, std::int64_t walked, std::int64_t size, Queue& other, std::int64_t other_size) {
    const std::int64_t since = std::min(other.walked, other_size);
    if (walked > 0) { // else nothing has come back to any core's caches
      one.walked += walked;
      other.walked = 0;
    }
    return size + since;
  }

  Queue receives_;
  Queue messages_;
};

} // namespace contend
