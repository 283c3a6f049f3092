// Threads on cores of their own that do the same at the same time.
#pragma once

#include "support/affinity.hpp"
#include "support/thread_barrier.hpp"

#include <cstddef>
#include <numeric>
#include <thread>
#include <vector>

namespace contend::native {

/// How many operations a second all threads do together. `prepare(thread)` makes, on the thread's core, what returns the time of one
/// of its operations when it is called; all begin together, and nobody's core becomes free before the last one is done.
template <typename Prepare>
[[nodiscard]] double rate_of_team(const std::vector<int>& cores, Prepare prepare) {
  ThreadBarrier together(static_cast<int>(cores.size()));
  std::vector<double> rates(cores.size());
  {
    std::vector<std::jthread> team;
    team.reserve(cores.size());
    for (std::size_t thread = 0; thread < cores.size(); ++thread) {
      team.emplace_back([&, thread] {
        bind_to_core(cores[thread]);
        auto time_of_one = prepare(thread);
        together.wait();
        rates[thread] = 1 / time_of_one();
        together.wait();
      });
    }
  }
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

} // namespace contend::native
