// Latency: what its threads need.
#include "scenario/checks/check.hpp"

#include <algorithm>
#include <array>

namespace contend::scenario {

namespace {

Problem more_latency_threads_than_cores(const PointConfig& point, const StatedTraits& traits) {
  const LatencyParameters& workload = point.workload.latency;
  const int progress = has_progress_thread(point, traits) ? 1 : 0; // of a process
  const std::int64_t senders = std::int64_t{workload.senders} + progress;
  const std::int64_t receivers = std::int64_t{workload.receivers} + progress;
  return more_threads_than_cores(point,
                                 point.placement.hosts == 1 ? senders + receivers : std::max(senders, receivers));
}

Problem latency_threads_at_level_single(const PointConfig& point, const StatedTraits& traits) {
  if (point.library.thread_level != "single")
    return {};
  if (Problem problem = progress_thread_at_level_single(point, traits); !problem.empty())
    return problem;
  const int threads = std::max(point.workload.latency.senders, point.workload.latency.receivers);
  if (threads == 1)
    return {};
  return number(threads) + " threads need MPI_THREAD_MULTIPLE; with thread level \"single\" a process has one thread";
}

Problem round_trips_longer_than_time(const PointConfig& point) {
  const LatencyParameters& workload = point.workload.latency;
  const double round_trips = static_cast<double>(workload.iterations) + workload.warmup_iterations;
  return longer_than_time(2 * round_trips * seconds_of_a_message(point, workload.message_size_bytes));
}

} // namespace

std::span<const Check> latency_checks() {
  static constexpr std::array checks{Check{"machine.nic.max_contexts", two_processes_with_too_few_contexts, "latency"},
                                     Check{"library.protocol.rendezvous", rendezvous_through_sockets, "latency"},
                                     Check{"workload.receivers", more_latency_threads_than_cores, "latency"},
                                     Check{"library.thread_level", latency_threads_at_level_single, "latency"},
                                     Check{"workload.message_size", round_trips_longer_than_time, "latency"}};
  return checks;
}

} // namespace contend::scenario
