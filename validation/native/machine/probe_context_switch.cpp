// Two threads on one core wake each other and sleep: each round trip has two switches.
#include "machine/probe.hpp"
#include "support/affinity.hpp"
#include "support/futex.hpp"
#include "support/thread_barrier.hpp"

#include <thread>

namespace contend::native {

namespace {

double switch_on(int core, std::int64_t count) {
  FutexWord turn{0}; // even: the first thread's
  ThreadBarrier start(2);
  std::int64_t elapsed = 0;
  const auto play = [&](int parity) {
    bind_to_core(core);
    start.wait();
    const std::int64_t begin = now_ns();
    for (int value = parity; value < 2 * count; value += 2) {
      int seen = turn.load(std::memory_order_acquire);
      while (seen != value) {
        futex_wait(turn, seen);
        seen = turn.load(std::memory_order_acquire);
      }
      turn.store(value + 1, std::memory_order_release);
      futex_wake_one(turn);
    }
    if (parity == 1) {
      elapsed = now_ns() - begin;
    }
  };
  std::jthread first([&] { play(0); });
  std::jthread second([&] { play(1); });
  first.join();
  second.join();
  return seconds(elapsed) / (2 * static_cast<double>(count));
}

} // namespace

void probe_context_switch(ProbeContext& context) {
  for (const int core : context.cores) {
    context.add_point("context_switch", {{"core", core}}, [&] { return switch_on(core, context.iterations); });
  }
}

} // namespace contend::native
