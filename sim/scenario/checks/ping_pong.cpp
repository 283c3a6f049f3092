// The ping-pong.
#include "scenario/checks/check.hpp"

#include <array>

namespace contend::scenario {

namespace {

Problem hops_longer_than_time(const PointConfig& point) {
  const PingPongParameters& workload = point.workload.ping_pong;
  const double hop = seconds_of_a_message(point, workload.message_size_bytes) + workload.runtime_work.in_seconds();
  return longer_than_time(2 * hop * (static_cast<double>(workload.iterations) + workload.warmup_iterations));
}

} // namespace

std::span<const Check> ping_pong_checks() {
  static constexpr std::array checks{
      Check{"machine.nic.max_contexts", two_processes_with_too_few_contexts, "ping-pong"},
      Check{"library.protocol.rendezvous", rendezvous_through_sockets, "ping-pong"},
      Check{"placement.cores", more_processes_than_cores, "ping-pong"},
      Check{"library.thread_level", progress_thread_at_level_single, "ping-pong"},
      Check{"workload.message_size", hops_longer_than_time, "ping-pong"}};
  return checks;
}

} // namespace contend::scenario
