// The ping-pong.
#include "scenario/checks/check.hpp"

#include <array>

namespace contend::scenario {

namespace {

Problem hops_longer_than_time(const PointConfig& point) {
  const PingPongParameters& workload = point.workload.ping_pong;
  const auto bytes = static_cast<double>(workload.message_size_bytes);
  const double packets = bytes / static_cast<double>(point.machine.nic.mtu_bytes) + 2;
  const double hop =
      (bytes + packets * static_cast<double>(point.machine.nic.packet_bytes)) / point.route.bytes_per_second +
      packets * point.machine.nic.nic_gap.in_seconds() + 2 * bytes / point.machine.software.copy_bytes_per_second +
      2 * (bytes / 4096 + 1) * point.machine.nic.registration_page.in_seconds() + workload.runtime_work.in_seconds();
  return longer_than_time(2 * hop * (static_cast<double>(workload.iterations) + workload.warmup_iterations));
}

} // namespace

std::span<const Check> ping_pong_checks() {
  static constexpr std::array checks{Check{"library.protocol.rendezvous", rendezvous_through_sockets, "ping-pong"},
                                     Check{"placement.cores", more_processes_than_cores, "ping-pong"},
                                     Check{"library.thread_level", progress_thread_at_level_single, "ping-pong"},
                                     Check{"workload.message_size", hops_longer_than_time, "ping-pong"}};
  return checks;
}

} // namespace contend::scenario
