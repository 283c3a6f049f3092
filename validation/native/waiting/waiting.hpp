// One call of the test and wait families over n receives of which k are complete.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace contend::native {

struct WaitingPoint {
  std::string call;
  std::int64_t requests = 1;
  std::int64_t complete = 0;
  std::int64_t iterations = 1000;
};

[[nodiscard]] const std::vector<std::string>& waiting_calls();

/// Whether the call would return: waits need something complete.
[[nodiscard]] bool returns(const WaitingPoint& point);

/// Two ranks call it together. Median time of one call in seconds on rank 0, with one reading of the clock in it.
[[nodiscard]] double measure_waiting(const WaitingPoint& point, int rank);

} // namespace contend::native
