#include "scenario/checks/check.hpp"

#include <algorithm>

namespace contend::scenario {

bool says(const std::vector<std::string>& names, const std::string& part) {
  return std::find(names.begin(), names.end(), part) != names.end();
}

std::string alternatives(const std::vector<std::string>& names) {
  if (names.empty())
    return "another, and none that could be is registered";
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "\"" : i + 1 == names.size() ? "\" or \"" : "\", \"") + names[i];
  return text + "\"";
}

std::string layout_of(const TopologyParameters& topology) {
  return counted(topology.sockets, "socket") + " x " + counted(topology.cores_per_socket, "core") + " x " +
         counted(topology.threads_per_core, "thread");
}

bool has_progress_thread(const PointConfig& point, const StatedTraits& traits) {
  return says(traits.own_thread, point.library.progress.engine);
}

std::int64_t usable_cores(const PointConfig& point) {
  return point.placement.cores > 0 ? point.placement.cores : point.machine.topology.hardware_threads();
}

Problem longer_than_time(double seconds) {
  constexpr double most_seconds = 1e6;
  if (seconds <= most_seconds)
    return {};
  return "the payload takes more than the " + number(static_cast<std::int64_t>(most_seconds)) +
         " seconds that can be simulated";
}

double seconds_of_transport_copies(const PointConfig& point, std::int64_t bytes) {
  const std::string& kind = point.library.transport.kind;
  if (kind == "shared-memory")
    return 2 * static_cast<double>(bytes) / point.machine.shared_memory.copy_bytes_per_second;
  if (kind == "tcp")
    return 2 * static_cast<double>(bytes) / point.machine.tcp.copy_bytes_per_second;
  return 0;
}

double seconds_on_the_buses(const PointConfig& point, std::int64_t bytes) {
  const NicParameters& nic = point.machine.nic;
  return nic.bus_bytes_per_second > 0
             ? 2 * static_cast<double>(std::min(bytes, nic.mtu_bytes)) / nic.bus_bytes_per_second
             : 0;
}

double seconds_of_a_message(const PointConfig& point, std::int64_t bytes) {
  constexpr double page_bytes = 4096;
  const NicParameters& nic = point.machine.nic;
  const auto payload = static_cast<double>(bytes);
  const double packets = payload / static_cast<double>(nic.mtu_bytes) + 2;
  const double pages = payload / page_bytes + 1;
  return seconds_on_the_buses(point, bytes) +
         (payload + packets * static_cast<double>(nic.packet_bytes)) / point.route.bytes_per_second +
         packets * nic.nic_gap.in_seconds() + 2 * pages * nic.registration_page.in_seconds() +
         2 * payload / point.machine.software.copy_bytes_per_second + seconds_of_transport_copies(point, bytes);
}

Problem one_sided_in_global_section(const PointConfig& point) {
  if (point.library.critical_section != "global" || point.library.one_sided.path != "interface")
    return {};
  return "one-sided operations of a network interface work under the locks of instances; a global critical section "
         "around them is not supported";
}

Problem one_sided_without_handler_lock(const PointConfig& point) {
  if (point.library.transport.handler_lock != "none" || point.library.one_sided.path != "interface")
    return {};
  return "completions of a network interface's one-sided operations are handled under the lock of their instance: set "
         "it to \"instance\"";
}

Problem one_sided_without_interface(const PointConfig& point) {
  if (point.library.one_sided.path != "interface" || point.library.transport.kind == "interface")
    return {};
  return "operations that a network interface carries out need one: library.transport.kind must be \"interface\", or "
         "library.one_sided.path \"messages\", or with one host \"memory\"";
}

Problem one_sided_memory_between_hosts(const PointConfig& point) {
  // Where messages go through memory as well, that has been said.
  if (point.library.one_sided.path != "memory" || point.placement.hosts == 1 ||
      point.library.transport.kind == "shared-memory")
    return {};
  return "processes of two hosts share no memory: placement.hosts must be 1, or library.one_sided.path another one";
}

Problem rendezvous_through_sockets(const PointConfig& point) {
  if (point.library.transport.kind != "tcp" || point.library.protocol.rendezvous != "get")
    return {};
  return "payload cannot be read at the other side of a socket: library.protocol.rendezvous must be \"put\" or "
         "\"send\"";
}

Problem more_processes_than_contexts(const PointConfig& point, std::int64_t processes) {
  if (point.library.transport.kind != "interface" || processes <= point.machine.nic.max_contexts)
    return {};
  return number(processes) + " processes on one host need a context of the network interface each, which has " +
         number(point.machine.nic.max_contexts);
}

Problem two_processes_with_too_few_contexts(const PointConfig& point) {
  return more_processes_than_contexts(point, point.placement.hosts == 1 ? 2 : 1);
}

Problem more_threads_than_cores(const PointConfig& point, std::int64_t threads) {
  if (point.placement.shares_cores() || threads <= usable_cores(point))
    return {};
  return number(threads) + " threads need as many hardware threads on their host, which has " +
         number(usable_cores(point)) + how_to_share;
}

Problem more_processes_than_cores(const PointConfig& point, const StatedTraits& traits) {
  const int threads = 1 + (has_progress_thread(point, traits) ? 1 : 0); // of a process
  return more_threads_than_cores(point, std::int64_t{threads} * (point.placement.hosts == 1 ? 2 : 1));
}

Problem progress_thread_at_level_single(const PointConfig& point, const StatedTraits& traits) {
  if (point.library.thread_level != "single" || !has_progress_thread(point, traits))
    return {};
  return "a progress thread needs MPI_THREAD_MULTIPLE: library.thread_level must be \"multiple\"";
}

} // namespace contend::scenario
