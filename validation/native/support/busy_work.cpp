#include "support/busy_work.hpp"

#include "support/clock.hpp"

#include <algorithm>

namespace contend::native {

double busy_rounds_per_ns() {
  constexpr std::int64_t rounds = 500'000;
  constexpr int trials = 20;
  double best = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const std::int64_t start = now_ns();
    busy_rounds(rounds);
    const auto elapsed = static_cast<double>(std::max<std::int64_t>(1, now_ns() - start));
    best = std::max(best, static_cast<double>(rounds) / elapsed);
  }
  return best;
}

} // namespace contend::native
