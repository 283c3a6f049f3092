// Open MPI's ob1: per communicator, one list of receives per source and one for ANY_SOURCE, merged by posting order.
#pragma once

#include "models/matching/matcher.hpp"
#include "models/matching/queue_reuse.hpp"
#include "models/matching/receive_list.hpp"
#include "models/matching/unexpected_list.hpp"

#include <vector>

namespace contend {

class Ob1Matcher final : public Matcher {
public:
  explicit Ob1Matcher(const MatcherSetup& setup);

  PostedReceive* arrive(SimThread& self, const Envelope& envelope) override;
  std::optional<Envelope> post(SimThread& self, PostedReceive& receive) override;

  [[nodiscard]] std::int64_t posted() const override { return posted_; }
  [[nodiscard]] std::int64_t unexpected() const override { return unexpected_; }
  [[nodiscard]] std::uint64_t visited() const override { return visited_; }

private:
  struct Peer {
    ReceiveList receives; ///< receives that name this peer
    UnexpectedList unexpected;
  };

  const Host& host_;
  MatchingParameters parameters_;
  QueueReuse reuse_;
  std::vector<Peer> peers_;
  std::size_t last_probed_ = 0; ///< peer whose unexpected message a wildcard took last
  ReceiveList wildcards_;       ///< receives from ANY_SOURCE
  std::uint64_t next_order_ = 0;
  std::int64_t posted_ = 0;
  std::int64_t unexpected_ = 0;
  std::uint64_t visited_ = 0;
};

} // namespace contend
