// Rounds of requests whose calls are given to imagined threads.
#pragma once

#include <cstdint>

namespace contend::native {

inline constexpr std::int64_t most_requests = 1024;

struct Rounds {
  std::int64_t requests = 128;
  std::int64_t rounds = 12;
  std::int64_t threads = 4;
  std::int64_t turns = 600;
  bool sends = false; ///< the traced side sends; else it receives
};

/// Both ranks call theirs together. In a round, threads post the requests in turn, the first one makes progress until they are
/// complete, threads wait for their own, and then all make progress in turn that finds nothing.
/// Returns which share of the requests was complete before anybody waited.
double run_traced_side(const Rounds& rounds);
double run_other_side(const Rounds& rounds);

} // namespace contend::native
