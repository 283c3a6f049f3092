// Neighbour message rates.
#include "scenario/checks/check.hpp"

#include <array>

namespace contend::scenario {

namespace {

std::int64_t neighbours(const PointConfig& point) {
  const NeighbourParameters& workload = point.workload.neighbour;
  return std::int64_t{workload.root_processes} * workload.threads;
}

Problem more_neighbours_than_cores(const PointConfig& point, const StatedTraits& traits) {
  const NeighbourParameters& workload = point.workload.neighbour;
  const bool helper = has_progress_thread(point, traits);
  const bool one_host = point.placement.hosts == 1;
  const std::int64_t threads = neighbours(point) * (one_host ? 2 : 1);
  const std::int64_t processes = workload.root_processes + (one_host ? neighbours(point) : 0);
  const std::int64_t needed = threads + (helper ? processes : 0);
  if (point.placement.shares_cores())
    return {};
  if (needed > usable_cores(point))
    return number(workload.root_processes) + " root processes with " + number(workload.threads) + " threads each" +
           (one_host ? ", their neighbours" : "") + (helper ? ", and a progress thread," : "") + " need " +
           number(needed) + " hardware threads on their host, which has " + number(usable_cores(point)) + how_to_share;
  if (helper && usable_cores(point) < 2)
    return "a progress thread needs a hardware thread of its own on each host";
  return {};
}

Problem more_roots_than_contexts(const PointConfig& point) {
  const std::int64_t processes =
      point.workload.neighbour.root_processes + (point.placement.hosts == 1 ? neighbours(point) : 0);
  return more_processes_than_contexts(point, processes);
}

Problem neighbours_at_level_single(const PointConfig& point, const StatedTraits& traits) {
  const int threads = point.workload.neighbour.threads;
  if (point.library.thread_level != "single")
    return {};
  if (Problem problem = progress_thread_at_level_single(point, traits); !problem.empty())
    return problem;
  if (threads == 1)
    return {};
  return number(threads) + " threads per process need MPI_THREAD_MULTIPLE; with thread level \"single\" a process has "
                           "one thread";
}

Problem too_many_neighbours(const PointConfig& point) {
  constexpr std::int64_t most = 4'000'000;
  const std::int64_t processes = point.workload.neighbour.root_processes + neighbours(point);
  if (processes * processes * point.library.instances.count <= most)
    return {};
  return number(processes) + " processes with " + number(point.library.instances.count) +
         " instances each keep more about each other than fits into memory";
}

Problem any_source_of_active_messages(const PointConfig& point) {
  const NeighbourParameters& workload = point.workload.neighbour;
  if (!workload.any_source || workload.interface == "mpi")
    return {};
  return "active messages are not received from a source: workload.interface must be \"mpi\"";
}

Problem any_tag_of_active_messages(const PointConfig& point) {
  const NeighbourParameters& workload = point.workload.neighbour;
  if (!workload.any_tag || workload.interface == "mpi")
    return {};
  return "active messages have no tag to be received by: workload.interface must be \"mpi\"";
}

/// Tags tell threads apart that receive from any source.
Problem wildcards_of_one_thread(const PointConfig& point) {
  const NeighbourParameters& workload = point.workload.neighbour;
  if (!workload.any_source || !workload.any_tag || workload.threads == 1)
    return {};
  return "with " + number(workload.threads) +
         " threads a receive from any source with any tag could take another thread's message: use one thread, or one "
         "of workload.any_source and workload.any_tag";
}

Problem handlers_without_interface(const PointConfig& point) {
  if (point.workload.neighbour.interface == "mpi" || point.library.transport.kind == "interface")
    return {};
  return "active messages are what a network interface offers below MPI: library.transport.kind must be \"interface\"";
}

Problem handlers_on_a_progress_thread(const PointConfig& point, const StatedTraits& traits) {
  if (point.workload.neighbour.interface == "mpi" || !has_progress_thread(point, traits))
    return {};
  return "threads advance active messages themselves; a progress thread is not supported";
}

Problem neighbours_longer_than_time(const PointConfig& point) {
  const NeighbourParameters& workload = point.workload.neighbour;
  const NicParameters& nic = point.machine.nic;
  const auto bytes = static_cast<double>(workload.message_size_bytes + point.library.protocol.header_bytes);
  const double packets = bytes / static_cast<double>(nic.mtu_bytes) + 2;
  const double message = (bytes + packets * static_cast<double>(nic.packet_bytes)) / point.route.bytes_per_second +
                         packets * nic.nic_gap.in_seconds() + 2 * bytes / point.machine.software.copy_bytes_per_second +
                         seconds_of_transport_copies(point, workload.message_size_bytes) +
                         seconds_on_the_buses(point, workload.message_size_bytes);
  return longer_than_time(2 * message * static_cast<double>(neighbours(point)) * workload.window *
                          (static_cast<double>(workload.iterations) + workload.warmup_iterations));
}

} // namespace

std::span<const Check> neighbour_checks() {
  static constexpr std::array checks{Check{"library.protocol.rendezvous", rendezvous_through_sockets, "neighbour"},
                                     Check{"workload.threads", more_neighbours_than_cores, "neighbour"},
                                     Check{"workload.root_processes", more_roots_than_contexts, "neighbour"},
                                     Check{"library.thread_level", neighbours_at_level_single, "neighbour"},
                                     Check{"workload.threads", too_many_neighbours, "neighbour"},
                                     Check{"workload.any_source", any_source_of_active_messages, "neighbour"},
                                     Check{"workload.any_tag", any_tag_of_active_messages, "neighbour"},
                                     Check{"workload.any_source", wildcards_of_one_thread, "neighbour"},
                                     Check{"workload.interface", handlers_on_a_progress_thread, "neighbour"},
                                     Check{"library.transport.kind", handlers_without_interface, "neighbour"},
                                     Check{"workload.iterations", neighbours_longer_than_time, "neighbour"}};
  return checks;
}

} // namespace contend::scenario
