// Futex calls that change nothing, of several threads at once: a wake-up that finds nobody asleep, and a wait whose word has
// changed. On one word they meet at the kernel's lock of that word's queue.
#include "machine/probe.hpp"
#include "machine/team.hpp"
#include "support/futex.hpp"
#include "support/spin.hpp"

#include <cstring>
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
  std::vector<Word> words(cores.size());
  const double rate = rate_of_team(cores, [&](std::size_t thread) {
    return [wakes, count, &word = words[same_word ? 0 : thread].value] {
      return time_each(count, [&] { wakes ? futex_wake_one(word) : futex_wait(word, 0); });
    };
  });
  return static_cast<double>(cores.size()) / rate;
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
