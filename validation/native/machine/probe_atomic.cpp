// Atomic operations on a line that this core owns, and on one that several cores want.
#include "machine/probe.hpp"
#include "machine/team.hpp"
#include "support/spin.hpp"
#include "support/statistics.hpp"

#include <array>
#include <atomic>
#include <utility>
#include <vector>

namespace contend::native {

namespace {

struct alignas(line_bytes) Line {
  std::atomic<std::int64_t> value{0};
};

struct Operation {
  const char* name;
  void (*run)(std::atomic<std::int64_t>&, std::int64_t count);
};

constexpr std::array<Operation, 5> operations{{
    {"fetch_add",
     [](std::atomic<std::int64_t>& value, std::int64_t count) {
       for (std::int64_t i = 0; i < count; ++i) {
         value.fetch_add(1);
       }
     }},
    {"compare_exchange",
     [](std::atomic<std::int64_t>& value, std::int64_t count) {
       std::int64_t seen = value.load();
       for (std::int64_t i = 0; i < count; ++i) {
         value.compare_exchange_strong(seen, seen + 1); // an attempt counts, whether it succeeds or not
       }
     }},
    {"exchange",
     [](std::atomic<std::int64_t>& value, std::int64_t count) {
       for (std::int64_t i = 0; i < count; ++i) {
         value.exchange(i);
       }
     }},
    {"load",
     [](std::atomic<std::int64_t>& value, std::int64_t count) {
       for (std::int64_t i = 0; i < count; ++i) {
         const std::int64_t seen = value.load(std::memory_order_relaxed);
         asm volatile("" : : "r"(seen));
       }
     }},
    {"store",
     [](std::atomic<std::int64_t>& value, std::int64_t count) {
       for (std::int64_t i = 0; i < count; ++i) {
         value.store(i, std::memory_order_release);
       }
     }},
}};

/// Time between two operations on the line, whoever does them. Of each thread the median over batches counts, so that it is
/// of no account when the system takes a core away for a while.
double run_on(const Operation& operation, const std::vector<int>& cores, std::int64_t count) {
  constexpr std::int64_t batch = 1000;
  Line line;
  return 1 / rate_of_team(cores, [&](std::size_t /*thread*/) {
           return [&operation, &line, count] {
             std::vector<double> times;
             for (std::int64_t done = 0; done < count; done += batch) {
               const std::int64_t begin = now_ns();
               operation.run(line.value, batch);
               times.push_back(seconds(now_ns() - begin));
             }
             return median(std::move(times)) / static_cast<double>(batch);
           };
         });
}

} // namespace

void probe_atomic(ProbeContext& context) {
  for (const Operation& operation : operations) {
    context.add_point("atomic", {{"operation", operation.name}, {"state", "owned"}, {"threads", 1}},
                      [&] { return run_on(operation, {context.cores.front()}, context.iterations * 10); });
    for (std::size_t threads = 2; threads <= context.cores.size(); threads *= 2) {
      const std::vector<int> cores(context.cores.begin(), context.cores.begin() + static_cast<std::ptrdiff_t>(threads));
      context.add_point("atomic",
                        {{"operation", operation.name}, {"state", "contended"}, {"threads", static_cast<int>(threads)}},
                        [&] { return run_on(operation, cores, context.iterations * 10); });
    }
  }
}

} // namespace contend::native
