// Moving a modified cache line between two cores: they take turns in writing it.
#include "machine/probe.hpp"
#include "support/affinity.hpp"
#include "support/spin.hpp"
#include "support/statistics.hpp"
#include "support/thread_barrier.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

namespace contend::native {

namespace {

struct alignas(line_bytes) PassedLine {
  std::atomic<std::int64_t> turn{0};
};

constexpr std::int64_t batch = 50; ///< round trips between two readings of the clock

void await(const PassedLine& line, std::int64_t value) {
  while (line.turn.load(std::memory_order_acquire) != value) {
  }
}

/// Half a round trip: the median over batches, so that it is of no account when the system takes one of the cores away.
double half_round_trip(int from, int to, std::int64_t count) {
  const std::int64_t batches = std::max<std::int64_t>(1, count / batch);
  const std::int64_t last = 2 * batches * batch;
  PassedLine line;
  ThreadBarrier start(2);
  std::vector<double> times;
  std::jthread here([&] {
    bind_to_core(from);
    start.wait();
    std::int64_t begin = now_ns();
    for (std::int64_t value = 1; value < last; value += 2) {
      line.turn.store(value, std::memory_order_release);
      await(line, value + 1);
      if ((value + 1) % (2 * batch) == 0) {
        const std::int64_t end = now_ns();
        times.push_back(seconds(end - begin) / (2 * static_cast<double>(batch)));
        begin = end;
      }
    }
  });
  std::jthread there([&] {
    bind_to_core(to);
    start.wait();
    for (std::int64_t value = 2; value <= last; value += 2) {
      await(line, value - 1);
      line.turn.store(value, std::memory_order_release);
    }
  });
  here.join();
  there.join();
  return median(std::move(times));
}

} // namespace

void probe_cache_line(ProbeContext& context) {
  for (std::size_t first = 0; first < context.cores.size(); ++first) {
    for (std::size_t second = first + 1; second < context.cores.size(); ++second) {
      const int from = context.cores[first];
      const int to = context.cores[second];
      context.add_point("cache_line", {{"from_core", from}, {"to_core", to}},
                        [&] { return half_round_trip(from, to, context.iterations); });
    }
  }
}

} // namespace contend::native
