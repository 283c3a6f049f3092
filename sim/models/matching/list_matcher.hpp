// The plainest design: one list of all posted receives and one of all unexpected messages, whatever their communicator and
// source (MPICH's queues; with the domain "global", one pair of lists for the whole process).
#pragma once

#include "models/matching/matcher.hpp"
#include "models/matching/queue_reuse.hpp"
#include "models/matching/receive_list.hpp"
#include "models/matching/unexpected_list.hpp"

namespace contend {

/// A message visits the receives from the oldest on until (communicator, source, tag) fits; a receive visits the messages
/// in the same way. Wildcards need nothing special: order in the list is posting order.
class ListMatcher final : public Matcher {
public:
  explicit ListMatcher(const MatcherSetup& setup)
      : host_(setup.host), prices_(setup.prices), reuse_(prices_.element_bytes, prices_.fragment_bytes) {}

  PostedReceive* arrive(SimThread& self, const Envelope& envelope) override;
  std::optional<Envelope> post(SimThread& self, PostedReceive& receive) override;

  [[nodiscard]] std::int64_t posted() const override { return static_cast<std::int64_t>(receives_.size()); }
  [[nodiscard]] std::int64_t unexpected() const override { return static_cast<std::int64_t>(messages_.size()); }
  [[nodiscard]] std::uint64_t visited() const override { return visited_; }

private:
  const Host& host_;
  MatchingParameters prices_;
  QueueReuse reuse_;
  ReceiveList receives_;
  UnexpectedList messages_;
  std::uint64_t next_order_ = 0;
  std::uint64_t visited_ = 0;
};

} // namespace contend
