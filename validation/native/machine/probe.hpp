// What all probes of the machine share.
#pragma once

#include "support/clock.hpp"
#include "support/hooks.hpp"
#include "support/json.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace contend::native {

struct ProbeContext {
  std::vector<int> cores;
  std::int64_t repetitions = 1;
  std::int64_t iterations = 10'000;
  Hooks hooks;
  Json points = Json::array();
  std::int64_t steps = 0;

  /// Adds a point whose samples are `repetitions` results of `measure`, in seconds per operation.
  void add_point(const std::string& probe, const Json::Object& parameters, const std::function<double()>& measure);
  /// `iterations`, but no more than `most`: for operations that take long.
  [[nodiscard]] std::int64_t at_most(std::int64_t most) const { return iterations < most ? iterations : most; }
};

struct Probe {
  std::string name;
  void (*run)(ProbeContext&);
};

void probe_atomic(ProbeContext& context);
void probe_busy_cores(ProbeContext& context);
void probe_busy_wake(ProbeContext& context);
void probe_cache_line(ProbeContext& context);
void probe_clock(ProbeContext& context);
void probe_context_switch(ProbeContext& context);
void probe_futex_calls(ProbeContext& context);
void probe_futex_wake(ProbeContext& context);
void probe_guarded_wake(ProbeContext& context);
void probe_memcpy(ProbeContext& context);
void probe_socket(ProbeContext& context);
void probe_socket_answers(ProbeContext& context);
void probe_socket_polls(ProbeContext& context);
void probe_socket_queue(ProbeContext& context);
void probe_socket_turns(ProbeContext& context);
void probe_thread_create(ProbeContext& context);
void probe_turns(ProbeContext& context);
void probe_yield(ProbeContext& context);

[[nodiscard]] const std::vector<Probe>& probes();

/// Time of one call of `operation`, from one reading of the clock before `count` calls and one after.
template <typename Operation>
[[nodiscard]] double time_each(std::int64_t count, Operation operation) {
  const std::int64_t start = now_ns();
  for (std::int64_t i = 0; i < count; ++i) {
    operation();
  }
  return seconds(now_ns() - start) / static_cast<double>(count);
}

} // namespace contend::native
