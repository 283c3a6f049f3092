// A posted and an unexpected queue for every source, and one queue for receives from any source (multichannel MPICH2).
#pragma once

#include "core/cache_line.hpp"
#include "models/matching/matcher.hpp"
#include "models/matching/queue_reuse.hpp"
#include "models/matching/receive_list.hpp"
#include "models/matching/unexpected_list.hpp"

#include <memory>
#include <vector>

namespace contend {

/// Threads that handle messages of different sources meet in the wildcard queue only, which has a lock of its own when
/// several of them can be here at a time:
///
///   arrival of m from s:
///     take the first receive of posted[s] that fits
///     else, unless the wildcard queue is empty: lock it; look into posted[s] again, then into the queue, in order
///     else append m to unexpected[s]
///   post r for source s:
///     take the first message of unexpected[s] that fits
///     else, if something in the wildcard queue is older and could take the same message: park r in that queue
///     else append r to posted[s]
///   post r for any source:
///     lock the wildcard queue; take a message of some unexpected[s], or append r to the wildcard queue
///   when a receive leaves the wildcard queue: parked receives that nothing older stands before any more go to their source's
///     posted queue
///
/// Order: what is in posted[s] is older than everything in the wildcard queue that could take the same message. The second
/// look into posted[s] is for receives that were parked when the arrival looked first, and have moved before it had the lock.
class PerSourceMatcher final : public Matcher {
public:
  static constexpr MatcherTraits traits{.queues_by_source = true};

  explicit PerSourceMatcher(const MatcherSetup& setup);

  PostedReceive* arrive(SimThread& self, const Envelope& envelope) override;
  std::optional<Envelope> post(SimThread& self, PostedReceive& receive) override;

  [[nodiscard]] bool locks_itself() const override { return wildcard_lock_ != nullptr; }
  [[nodiscard]] std::int64_t posted() const override { return posted_; }
  [[nodiscard]] std::int64_t unexpected() const override { return unexpected_; }
  [[nodiscard]] std::uint64_t visited() const override { return visited_; }
  /// Receives in the wildcard queue, parked ones included.
  [[nodiscard]] std::size_t wildcards() const { return wildcards_.size(); }

private:
  struct Source {
    ReceiveList posted;
    UnexpectedList unexpected;
    std::unique_ptr<CacheLine> state; ///< queue heads; only when several threads can be here
  };

  std::optional<Envelope> post_for_source(SimThread& self, PostedReceive& receive);
  std::optional<Envelope> post_for_any(SimThread& self, PostedReceive& receive);
  PostedReceive* take_posted(SimThread& self, Source& source, const Envelope& envelope);
  PostedReceive* take_wildcard(SimThread& self, const Envelope& envelope);
  [[nodiscard]] bool stands_before(const PostedReceive& receive, std::size_t end, QueueWalk& walk) const;
  void unpark(SimThread& self);
  Source& source_of(SimThread& self, int rank);
  void look_at_wildcards(SimThread& self);
  void lock_wildcards(SimThread& self);
  void unlock_wildcards(SimThread& self);
  void charge_receives(SimThread& self, const QueueWalk& walk);
  void charge_messages(SimThread& self, Duration fixed, const QueueWalk& walk);

  const Host& host_;
  MatchingParameters prices_;
  QueueReuse reuse_;
  std::vector<Source> sources_;           ///< by rank
  std::vector<PostedReceive*> wildcards_; ///< in posting order: from any source, and parked
  std::unique_ptr<Lock> wildcard_lock_;
  std::unique_ptr<CacheLine> wildcard_line_; ///< head of the wildcard queue
  std::uint64_t next_order_ = 0;
  std::int64_t posted_ = 0;
  std::int64_t unexpected_ = 0;
  std::uint64_t visited_ = 0;
};

} // namespace contend
