// What the partitioned benchmark is asked to do.
#pragma once

#include "support/json.hpp"
#include "support/options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace contend::native {

struct PartitionedWorkload {
  std::string method = "partitioned";
  std::int64_t partitions = 4;
  std::int64_t receive_partitions = 1;
  std::int64_t buffer_size = std::int64_t{1} << 20;
  double compute_ms = 1;
  double noise_pct = 4;
  std::int64_t iterations = 100;
  std::int64_t warmup_iterations = 10;

  void declare(Options& options);
  /// Throws Failure(bad_options).
  void check() const;
  [[nodiscard]] std::int64_t partition_bytes() const { return buffer_size / partitions; }
  [[nodiscard]] Json describe() const;
};

} // namespace contend::native
