// RMA-MT: one-sided operations of many threads.
#include "scenario/checks/check.hpp"
#include "scenario/units.hpp"

#include <array>

namespace contend::scenario {

namespace {

Problem more_origins_than_cores(const PointConfig& point) {
  const int target = point.placement.hosts == 1 ? 1 : 0; // on the same host
  return more_threads_than_cores(point, std::int64_t{point.workload.rma_mt.threads} + target);
}

Problem fence_with_many_windows(const PointConfig& point) {
  const RmaMtParameters& workload = point.workload.rma_mt;
  if (workload.synchronisation != "fence" || !workload.window_per_thread)
    return {};
  return "a fence is collective: with a window per thread the target would need as many threads; use one window";
}

Problem operand_above_one_element(const PointConfig& point) {
  constexpr std::int64_t largest_element = 16; // long double
  const RmaMtParameters& workload = point.workload.rma_mt;
  if (workload.operation != "fetch-and-op" || workload.message_size_bytes <= largest_element)
    return {};
  return "fetch-and-op works on one element of at most " + format_size(largest_element) + ", not on " +
         format_size(workload.message_size_bytes);
}

Problem origins_at_level_single(const PointConfig& point) {
  const int threads = point.workload.rma_mt.threads;
  if (point.library.thread_level != "single" || threads == 1)
    return {};
  return number(threads) + " threads need MPI_THREAD_MULTIPLE; with thread level \"single\" the process has one thread";
}

Problem one_sided_by_progress_thread(const PointConfig& point, const StatedTraits& traits) {
  if (!has_progress_thread(point, traits))
    return {};
  return "one-sided operations are posted by the calling thread; handing them to a progress thread is not supported";
}

Problem unanswered_puts_of_several_instances(const PointConfig& point) {
  const OneSidedDesign& design = point.library.one_sided;
  if (design.path != "messages" || design.acknowledge_above_bytes == 0 || point.library.instances.count == 1)
    return {};
  return "puts without an answer precede what the same instance sends after them, and nothing else: with " +
         number(point.library.instances.count) + " instances library.one_sided.acknowledge_above must be \"0 B\"";
}

/// The target has nothing to do but to come to the barrier, where it would look at flags and at nothing else.
Problem target_waits_at_flags(const PointConfig& point) {
  const LibraryDesign& library = point.library;
  if (library.one_sided.path != "messages" || library.barrier != "release-gather" || library.thread_level != "single" ||
      point.placement.hosts != 1)
    return {};
  return "a target that waits at flags in shared memory carries out no operations that come as messages: "
         "library.barrier must be \"dissemination\", or library.one_sided.path another one";
}

Problem one_sided_payload_longer_than_time(const PointConfig& point) {
  const RmaMtParameters& workload = point.workload.rma_mt;
  const MachineConfig& machine = point.machine;
  const auto bytes = static_cast<double>(workload.message_size_bytes);
  const double packets = bytes / static_cast<double>(machine.nic.mtu_bytes) + 1;
  const double operation =
      point.library.one_sided.path != "interface"
          ? 2 * seconds_of_a_message(point, workload.message_size_bytes)
          : 2 * (seconds_on_the_buses(point, workload.message_size_bytes) +
                 (bytes + packets * static_cast<double>(machine.nic.packet_bytes)) / point.route.bytes_per_second +
                 packets * machine.nic.nic_gap.in_seconds()) + // there and, under a lock, back
                bytes / machine.rdma.store_bytes_per_second +
                bytes / machine.software.copy_bytes_per_second;
  const double operations = static_cast<double>(workload.threads) * workload.operations *
                            (static_cast<double>(workload.iterations) + workload.warmup_iterations);
  return longer_than_time(operation * operations);
}

} // namespace

std::span<const Check> rma_mt_checks() {
  static constexpr std::array checks{Check{"machine.nic.max_contexts", two_processes_with_too_few_contexts, "rma-mt"},
                                     Check{"workload.threads", more_origins_than_cores, "rma-mt"},
                                     Check{"library.thread_level", origins_at_level_single, "rma-mt"},
                                     Check{"library.critical_section", one_sided_in_global_section, "rma-mt"},
                                     Check{"library.transport.handler_lock", one_sided_without_handler_lock, "rma-mt"},
                                     Check{"library.progress.engine", one_sided_by_progress_thread, "rma-mt"},
                                     Check{"workload.window_per_thread", fence_with_many_windows, "rma-mt"},
                                     Check{"workload.message_size", operand_above_one_element, "rma-mt"},
                                     Check{"workload.message_size", one_sided_payload_longer_than_time, "rma-mt"},
                                     Check{"library.transport.kind", one_sided_without_interface, "rma-mt"},
                                     Check{"placement.hosts", one_sided_memory_between_hosts, "rma-mt"},
                                     Check{"library.barrier", target_waits_at_flags, "rma-mt"},
                                     Check{"library.instances.count", unanswered_puts_of_several_instances, "rma-mt"}};
  return checks;
}

} // namespace contend::scenario
