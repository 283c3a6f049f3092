// Vector matching: both queues packed in blocks, a whole block compared at a time (Dosanjh et al., "Fuzzy matching:
// hardware accelerated MPI communication middleware", CCGrid 2019; Open MPI's ob1 "custom match" with vectors).
#pragma once

#include "models/matching/matcher.hpp"
#include "models/matching/packed_queue.hpp"
#include "models/matching/queue_reuse.hpp"

namespace contend {

/// One queue of receives for all sources (and communicators of the domain). Every slot has a key and a mask; wildcards
/// are bits that the mask leaves out, so order in the queue is posting order for all kinds of receives. A message is
/// compared with the keys of a block in one step; the first element of the first block that fits takes it. Unexpected
/// messages are kept in blocks too, and the receive that looks through them supplies the mask.
///
/// Keys are compared in full: the 8- and 16-bit "fuzzy" variants look at part of a key, verify what seems to fit, and
/// compare more elements per step, which is what `vector_width` says here.
class VectorMatcher final : public Matcher {
public:
  explicit VectorMatcher(const MatcherSetup& setup);

  PostedReceive* arrive(SimThread& self, const Envelope& envelope) override;
  std::optional<Envelope> post(SimThread& self, PostedReceive& receive) override;

  [[nodiscard]] std::int64_t posted() const override { return static_cast<std::int64_t>(receives_.size()); }
  [[nodiscard]] std::int64_t unexpected() const override { return static_cast<std::int64_t>(messages_.size()); }
  [[nodiscard]] std::uint64_t visited() const override { return visited_; }

private:
  [[nodiscard]] std::int64_t receive_blocks() const { return static_cast<std::int64_t>(receives_.blocks()); }
  [[nodiscard]] std::int64_t message_blocks() const { return static_cast<std::int64_t>(messages_.blocks()); }
  void charge(SimThread& self, const QueueWalk& walk, std::int64_t footprint);

  const Host& host_;
  MatchingParameters prices_;
  int width_;
  QueueReuse reuse_; ///< of blocks
  PackedQueue<PostedReceive*> receives_;
  PackedQueue<Envelope> messages_;
  std::uint64_t next_order_ = 0;
  std::uint64_t visited_ = 0;
};

} // namespace contend
