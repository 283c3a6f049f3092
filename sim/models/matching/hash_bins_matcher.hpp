// Hash bins with posting order (Flajslik, Dinan and Underwood, "Mitigating MPI message matching misery", ISC 2016).
#pragma once

#include "models/matching/linked_lists.hpp"
#include "models/matching/matcher.hpp"
#include "models/matching/queue_reuse.hpp"

#include <vector>

namespace contend {

/// Receives that name source and tag lie in the bin of their hashed (communicator, source, tag), those with a wildcard in
/// a list of their own. Every receive knows its posting order. A message
///  1. walks its bin to the first receive that fits, then
///  2. walks the wildcard list to the first that fits, but no farther than the first that is younger than the one found:
/// the older of the two takes the message, as one list in posting order would have it.
/// Unexpected messages are linked twice: in the bin of their hash, where receives without wildcards look, and in a list in
/// order of arrival for the others.
///
/// A bin's head is memory that cores share: one who uses a bin that another core used last has to fetch it.
class HashBinsMatcher final : public Matcher {
public:
  explicit HashBinsMatcher(const MatcherSetup& setup);

  PostedReceive* arrive(SimThread& self, const Envelope& envelope) override;
  std::optional<Envelope> post(SimThread& self, PostedReceive& receive) override;

  [[nodiscard]] std::int64_t posted() const override { return posted_; }
  [[nodiscard]] std::int64_t unexpected() const override { return unexpected_; }
  [[nodiscard]] std::uint64_t visited() const override { return visited_; }

  /// Bin of a message, or of a receive without wildcards.
  [[nodiscard]] std::size_t bin_of(int communicator, int source, int tag) const;

private:
  struct Receive {
    PostedReceive* receive = nullptr;
    std::uint64_t present = 0; ///< see CachePresence
    int owner = 0;             ///< core that posted it
  };
  using Receives = LinkedLists<Receive>;
  struct Message {
    Envelope envelope;
    std::int32_t in_bin = 0; ///< its node there
  };
  using Messages = LinkedLists<Message>;           ///< in order of arrival
  using MessageBins = LinkedLists<Messages::Node>; ///< by bin

  [[nodiscard]] std::size_t wildcards() const { return bins_; } ///< number of their list
  const PostedReceive& visit(Receives::Node node, QueueWalk& walk);
  void use_head(std::size_t list, QueueWalk& walk);
  PostedReceive* take(std::size_t list, Receives::Node node);
  Messages::Node find_message(const PostedReceive& receive, QueueWalk& walk);
  /// `footprint`: of the queue that was walked, without the bins.
  void charge(SimThread& self, const QueueWalk& walk, std::int64_t footprint);

  const Host& host_;
  MatchingParameters prices_;
  QueueReuse reuse_;
  std::size_t bins_;
  Receives receives_; ///< bins, then the list of wildcards
  MessageBins message_bins_;
  Messages messages_;
  std::vector<std::int16_t> head_users_; ///< core that last used the head of a bin or of the wildcards; -1: none yet
  std::uint64_t next_order_ = 0;
  std::int64_t posted_ = 0;
  std::int64_t unexpected_ = 0;
  std::uint64_t visited_ = 0;
};

} // namespace contend
