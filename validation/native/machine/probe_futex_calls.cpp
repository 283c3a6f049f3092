// Futex calls that change nothing, of several threads at once: a wake-up that finds nobody asleep, and a wait whose word has
// changed. On one word they meet at the kernel's lock of that word's queue.
#include "machine/probe.hpp"
#include "support/affinity.hpp"
#include "support/futex.hpp"
#include "support/spin.hpp"
#include "support/thread_barrier.hpp"

#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

namespace contend::native {

namespace {

struct alignas(line_bytes) Word {
  FutexWord value{1};
};

/// Time of one call of a thread, from the sum of all threads' rates. All calls count: a thread whose core has the word's line
/// makes many in a row, and then waits for as long.
double run_on(const char* part, bool same_word, const std::vector<int>& cores, std::int64_t count) {
  const bool wakes = std::strcmp(part, "wake") == 0;
  ThreadBarrier start(static_cast<int>(cores.size()));
  std::vector<double> rates(cores.size());
  std::vector<Word> words(cores.size());
  {
    std::vector<std::jthread> team;
    for (std::size_t thread = 0; thread < cores.size(); ++thread) {
      team.emplace_back([&, thread] {
        bind_to_core(cores[thread]);
        FutexWord& word = words[same_word ? 0 : thread].value;
        start.wait();
        rates[thread] = 1 / time_each(count, [&] {
                          if (wakes) {
                            futex_wake_one(word);
                          } else {
                            futex_wait(word, 0);
                          }
                        });
        start.wait(); // nobody's core becomes free before the last one is done
      });
    }
  }
  return static_cast<double>(cores.size()) / std::accumulate(rates.begin(), rates.end(), 0.0);
}

} // namespace

void probe_futex_calls(ProbeContext& context) {
  for (const char* part : {"wake", "wait"}) {
    for (const bool same_word : {false, true}) {
      for (std::size_t threads = 1; threads <= context.cores.size(); threads *= 2) {
        const std::vector<int> cores(context.cores.begin(),
                                     context.cores.begin() + static_cast<std::ptrdiff_t>(threads));
        context.add_point("futex_calls",
                          {{"part", part}, {"same_word", same_word}, {"threads", static_cast<int>(threads)}},
                          [&] { return run_on(part, same_word, cores, context.iterations); });
      }
    }
  }
}

} // namespace contend::native
