// Partitioned communication and its baselines.
#include "scenario/checks/check.hpp"
#include "scenario/units.hpp"

#include <array>

namespace contend::scenario {

namespace {

Problem buffer_in_pieces(const PointConfig& point) {
  const PartitionedParameters& workload = point.workload.partitioned;
  for (const int partitions : {workload.partitions, workload.receive_partitions})
    if (workload.buffer_size_bytes % partitions != 0)
      return format_size(workload.buffer_size_bytes) + " cannot be divided into " + number(partitions) +
             " equal partitions";
  return {};
}

Problem receive_partitions_of_messages(const PointConfig& point, const StatedTraits& traits) {
  const PartitionedParameters& workload = point.workload.partitioned;
  if (says(traits.by_partitions, workload.method) || workload.receive_partitions == 1)
    return {};
  return "receive partitions are for the method " + alternatives(traits.by_partitions) + "; " + workload.method +
         " receives messages";
}

Problem more_partitions_than_cores(const PointConfig& point) {
  const int partitions = point.workload.partitioned.partitions;
  const bool with_receiver = point.placement.hosts == 1;
  if (point.placement.shares_cores() || partitions + (with_receiver ? 1 : 0) <= usable_cores(point))
    return {};
  return number(partitions) + " partitions have a thread each" + (with_receiver ? ", and the receiver one," : "") +
         " and need as many hardware threads on their host, which has " + number(usable_cores(point)) + how_to_share;
}

Problem partitions_at_level_single(const PointConfig& point, const StatedTraits& traits) {
  const PartitionedParameters& workload = point.workload.partitioned;
  if (point.library.thread_level != "single" || says(traits.one_thread_sends, workload.method) ||
      (!says(traits.by_partitions, workload.method) && workload.partitions == 1))
    return {};
  return "with thread level \"single\" only the first thread may call the library: workload.method must be " +
         alternatives(traits.one_thread_sends) + ", or workload.partitions 1 with one that sends messages";
}

bool partitions_are_put(const PointConfig& point, const StatedTraits& traits) {
  return says(traits.by_partitions, point.workload.partitioned.method) &&
         says(traits.puts, point.library.partitioned.engine);
}

Problem partitions_in_global_section(const PointConfig& point, const StatedTraits& traits) {
  return partitions_are_put(point, traits) ? one_sided_in_global_section(point) : Problem();
}

Problem partitions_without_handler_lock(const PointConfig& point, const StatedTraits& traits) {
  return partitions_are_put(point, traits) ? one_sided_without_handler_lock(point) : Problem();
}

Problem puts_before_the_receiver_starts(const PointConfig& point, const StatedTraits& traits) {
  if (!partitions_are_put(point, traits) || point.workload.partitioned.receiver_starts == "before")
    return {};
  return "puts do not wait for the receiver: workload.receiver_starts must be \"before\", or "
         "library.partitioned.engine "
         "one that sends messages";
}

Problem partitions_by_answered_messages(const PointConfig& point, const StatedTraits& traits) {
  if (!partitions_are_put(point, traits) || point.library.one_sided.path != "messages")
    return {};
  return "a receiver of partitions looks at its memory without making progress, which puts by messages need: "
         "library.one_sided.path must be another one, or library.partitioned.engine \"persistent\"";
}

Problem partitions_without_interface(const PointConfig& point, const StatedTraits& traits) {
  return partitions_are_put(point, traits) ? one_sided_without_interface(point) : Problem();
}

Problem partitions_in_memory_between_hosts(const PointConfig& point, const StatedTraits& traits) {
  return partitions_are_put(point, traits) ? one_sided_memory_between_hosts(point) : Problem();
}

Problem partitions_by_progress_thread(const PointConfig& point, const StatedTraits& traits) {
  if (!has_progress_thread(point, traits))
    return {};
  return "threads look for partitions themselves; a progress thread for partitioned communication is not supported";
}

Problem partitions_longer_than_time(const PointConfig& point) {
  const PartitionedParameters& workload = point.workload.partitioned;
  const MachineConfig& machine = point.machine;
  const auto bytes = static_cast<double>(workload.buffer_size_bytes);
  const double packets = bytes / static_cast<double>(machine.nic.mtu_bytes) + workload.partitions;
  const double iteration =
      workload.compute_time.in_seconds() * (1 + workload.noise_pct / 100) + workload.compute_jitter.in_seconds() +
      (bytes + packets * static_cast<double>(machine.nic.packet_bytes)) / point.route.bytes_per_second +
      packets * machine.nic.nic_gap.in_seconds() +
      2 * (bytes / 4096 + workload.partitions) * machine.nic.registration_page.in_seconds() +
      bytes / machine.rdma.store_bytes_per_second + 2 * bytes / machine.software.copy_bytes_per_second +
      seconds_of_transport_copies(point, workload.buffer_size_bytes) +
      workload.partitions * seconds_on_the_buses(point, workload.buffer_size_bytes) +
      workload.partitions * point.library.partitioned.aggregate_age.in_seconds();
  return longer_than_time(iteration * (static_cast<double>(workload.iterations) + workload.warmup_iterations));
}

} // namespace

std::span<const Check> partitioned_checks() {
  static constexpr std::array checks{
      Check{"machine.nic.max_contexts", two_processes_with_too_few_contexts, "partitioned"},
      Check{"library.protocol.rendezvous", rendezvous_through_sockets, "partitioned"},
      Check{"workload.buffer_size", buffer_in_pieces, "partitioned"},
      Check{"workload.receive_partitions", receive_partitions_of_messages, "partitioned"},
      Check{"workload.partitions", more_partitions_than_cores, "partitioned"},
      Check{"library.thread_level", partitions_at_level_single, "partitioned"},
      Check{"library.critical_section", partitions_in_global_section, "partitioned"},
      Check{"library.transport.handler_lock", partitions_without_handler_lock, "partitioned"},
      Check{"library.transport.kind", partitions_without_interface, "partitioned"},
      Check{"placement.hosts", partitions_in_memory_between_hosts, "partitioned"},
      Check{"library.one_sided.path", partitions_by_answered_messages, "partitioned"},
      Check{"workload.receiver_starts", puts_before_the_receiver_starts, "partitioned"},
      Check{"library.progress.engine", partitions_by_progress_thread, "partitioned"},
      Check{"workload.buffer_size", partitions_longer_than_time, "partitioned"}};
  return checks;
}

} // namespace contend::scenario
