// sched_yield when nobody else wants the core, and between threads that share it.
#include "machine/probe.hpp"
#include "support/affinity.hpp"
#include "support/thread_barrier.hpp"

#include <sched.h>
#include <thread>

namespace contend::native {

namespace {

/// Time of one call; with several threads, time from one thread's call to the next thread's.
double yields(int core, int threads, std::int64_t count) {
  ThreadBarrier barrier(threads);
  std::int64_t elapsed = 0;
  {
    std::vector<std::jthread> team;
    team.reserve(static_cast<std::size_t>(threads));
    for (int thread = 0; thread < threads; ++thread) {
      team.emplace_back([&, thread] {
        bind_to_core(core);
        barrier.wait();
        const std::int64_t begin = now_ns();
        for (std::int64_t i = 0; i < count; ++i) {
          sched_yield();
        }
        barrier.wait();
        if (thread == 0) {
          elapsed = now_ns() - begin;
        }
      });
    }
  }
  return seconds(elapsed) / (static_cast<double>(count) * threads);
}

} // namespace

void probe_yield(ProbeContext& context) {
  const int core = context.cores.front();
  for (const int threads : {1, 2, 4}) {
    context.add_point("yield", {{"core", core}, {"threads", threads}},
                      [&] { return yields(core, threads, context.iterations); });
  }
}

} // namespace contend::native
