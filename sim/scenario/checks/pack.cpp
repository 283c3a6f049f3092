// Packing with helpers.
#include "scenario/checks/check.hpp"
#include "scenario/units.hpp"

#include <array>

namespace contend::scenario {

namespace {

Problem more_helpers_than_cores(const PointConfig& point) {
  const int peer = point.placement.hosts == 1 ? 1 : 0; // on the same host
  return more_threads_than_cores(point, std::int64_t{point.workload.pack.helpers} + 1 + peer);
}

Problem helpers_at_level_single(const PointConfig& point) {
  const int helpers = point.workload.pack.helpers;
  if (point.library.thread_level != "single" || helpers == 0)
    return {};
  return number(helpers) + " helpers need MPI_THREAD_MULTIPLE; with thread level \"single\" the process has one thread";
}

Problem helpers_with_progress_thread(const PointConfig& point, const StatedTraits& traits) {
  if (!has_progress_thread(point, traits))
    return {};
  return "with a progress thread nobody helps: library.progress.engine must be another";
}

/// Every piece is a task.
Problem too_many_pieces(const PointConfig& point, const StatedTraits& traits) {
  constexpr std::int64_t most = 1'000'000;
  const std::int64_t pieces = point.workload.pack.message_size_bytes / point.library.tasks.pack_piece_bytes;
  if (!says(traits.takes_tasks, point.library.waiting.idle) || pieces <= most)
    return {};
  return number(pieces) + " tasks of " + format_size(point.library.tasks.pack_piece_bytes) + " for one pack; at most " +
         number(most) + " are supported";
}

Problem packing_longer_than_time(const PointConfig& point) {
  const PackParameters& workload = point.workload.pack;
  const auto bytes = static_cast<double>(workload.message_size_bytes);
  const double blocks = bytes / static_cast<double>(workload.block_bytes) + 1;
  const double most =
      point.machine.topology.cores_per_socket * static_cast<double>(point.machine.topology.threads_per_core);
  const double pack = blocks * point.machine.datatype.block.in_seconds() +
                      bytes / point.machine.software.copy_bytes_per_second +
                      2 * bytes * most / point.machine.datatype.memory_bytes_per_second;
  return longer_than_time(pack * (static_cast<double>(workload.iterations) + workload.warmup_iterations));
}

} // namespace

std::span<const Check> pack_checks() {
  static constexpr std::array checks{Check{"machine.nic.max_contexts", two_processes_with_too_few_contexts, "pack"},
                                     Check{"workload.helpers", more_helpers_than_cores, "pack"},
                                     Check{"workload.helpers", helpers_at_level_single, "pack"},
                                     Check{"library.progress.engine", helpers_with_progress_thread, "pack"},
                                     Check{"library.tasks.pack_piece", too_many_pieces, "pack"},
                                     Check{"workload.message_size", packing_longer_than_time, "pack"}};
  return checks;
}

} // namespace contend::scenario
