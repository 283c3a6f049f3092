#include "mpi/iteration_times.hpp"

#include "support/clock.hpp"

#include <algorithm>

namespace contend::native {

std::vector<double> iteration_times(std::int64_t start_ns,
                                    const std::vector<const std::vector<std::int64_t>*>& ends_ns) {
  std::vector<double> times;
  const std::size_t iterations = ends_ns.front()->size();
  times.reserve(iterations);
  std::int64_t before = start_ns;
  for (std::size_t iteration = 0; iteration < iterations; ++iteration) {
    std::int64_t end = before;
    for (const auto* thread : ends_ns) {
      end = std::max(end, (*thread)[iteration]);
    }
    times.push_back(seconds(end - before));
    before = end;
  }
  return times;
}

} // namespace contend::native
