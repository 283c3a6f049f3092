// What the latency benchmark is asked to do: the same keys as a scenario's workload.
#pragma once

#include "support/json.hpp"
#include "support/options.hpp"

#include <cstdint>
#include <numeric>

namespace contend::native {

/// Values that a tag can have in any library.
inline constexpr std::int64_t guaranteed_tags = 32768;

struct LatencyWorkload {
  std::int64_t senders = 1;
  std::int64_t receivers = 2;
  std::int64_t message_size = 0;
  std::int64_t iterations = 1000;
  std::int64_t warmup_iterations = 100;

  void declare(Options& options);
  /// Refuses sides that need more tags than MPI guarantees. Throws Failure(bad_options).
  void check() const;

  /// Round trips come in rounds in which every thread has its share.
  [[nodiscard]] std::int64_t round() const { return std::lcm(senders, receivers); }
  /// Rounds with at least so many round trips.
  [[nodiscard]] std::int64_t rounds_of(std::int64_t round_trips) const { return (round_trips + round() - 1) / round(); }
  [[nodiscard]] Json describe() const;
};

} // namespace contend::native
