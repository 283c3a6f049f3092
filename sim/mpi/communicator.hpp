// What one process keeps for one communicator.
#pragma once

#include "core/cache_line.hpp"
#include "models/locks/lock.hpp"
#include "models/matching/matcher.hpp"
#include "models/matching/out_of_sequence_list.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace contend {

/// Queues that are searched under one lock. Several communicators may share a domain, see Communicators::domain_of.
struct MatchingDomain {
  std::unique_ptr<Lock> lock;
  std::unique_ptr<Matcher> matcher;
  std::unique_ptr<CacheLine> state; ///< queue heads and expected sequence numbers
  TraceLabel posted;
  TraceLabel unexpected;
};

/// State about one peer in one communicator.
struct PeerState {
  std::unique_ptr<CacheLine> send_line; ///< where the next sequence number lives
  std::uint16_t next_to_send = 0;
  std::uint16_t expected = 0;
  OutOfSequenceList out_of_sequence;
};

struct Communicator {
  int id = 0;
  /// Messages carry sequence numbers and are matched in their order. Not so with the info key
  /// mpi_assert_allow_overtaking, and in a library that relies on the transport's order.
  bool sequenced = true;
  MatchingDomain* domain = nullptr;
  std::vector<PeerState> peers;          ///< by rank
  std::unique_ptr<CacheLine> references; ///< where the reference count lives
};

} // namespace contend
