// Programs of MPI processes that are coroutines; other workloads pass.
#include "scenario/checks/check.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace contend::scenario {

namespace {

/// What the point's program has in common with others; nullptr: its workload is none.
const ProgramParameters* program_of(const PointConfig& point) {
  const WorkloadParameters& all = point.workload;
  const std::array<std::pair<const char*, const ProgramParameters*>, 9> programs{
      {{"ping", &all.ping},
       {"ring", &all.ring},
       {"collective", &all.collective},
       {"exchange", &all.exchange},
       {"matrix-product", &all.matrix_product},
       {"pipeline", &all.pipeline},
       {"receivers", &all.receivers},
       {"flocking", &all.flocking},
       {"nas", &all.nas}}};
  for (const auto& [kind, common] : programs) {
    if (all.kind == kind)
      return common;
  }
  return nullptr;
}

std::int64_t processes_of(const ProgramParameters& program) {
  return std::int64_t{program.processes_per_os_process} * program.os_processes_per_node * program.nodes;
}

std::int64_t root_of(std::int64_t square) {
  std::int64_t root = 0;
  while ((root + 1) * (root + 1) <= square)
    ++root;
  return root;
}

std::string layout_of(const ProgramParameters& program) {
  return std::to_string(processes_of(program)) + " processes (" + std::to_string(program.processes_per_os_process) +
         " in an OS process x " + std::to_string(program.os_processes_per_node) + " on a node x " +
         std::to_string(program.nodes) + ")";
}

Problem no_prices_for_processes(const PointConfig& point) {
  const ProgramParameters* program = program_of(point);
  if (program == nullptr ||
      (point.machine.coroutines.light_switch > Duration{} && point.machine.memory.copy_bytes_per_second > 0))
    return {};
  return "the machine's profile gives no prices of processes that are coroutines (machine.coroutines, machine.memory)";
}

Problem placed_besides_layout(const PointConfig& point) {
  const PlacementParameters& placement = point.placement;
  if (program_of(point) == nullptr || (!placement.shares_cores() && placement.cores == 0 && placement.hosts == 2))
    return {};
  return "processes that are coroutines are laid out by the workload (processes_per_os_process, os_processes_per_node, "
         "nodes), not by placement";
}

Problem too_many_processes(const PointConfig& point) {
  constexpr std::int64_t most = 10'000'000;
  const ProgramParameters* program = program_of(point);
  // Each factor is bounded, their product might not fit 64 bits times anything: compare step by step.
  if (program == nullptr ||
      (std::int64_t{program->os_processes_per_node} * program->nodes <= most && processes_of(*program) <= most))
    return {};
  return layout_of(*program) + "; at most " + std::to_string(most) + " fit into memory";
}

Problem too_many_os_processes(const PointConfig& point) {
  constexpr std::int64_t most = 16384; // each has a stack of its own, which takes two mappings
  const ProgramParameters* program = program_of(point);
  if (program == nullptr || std::int64_t{program->os_processes_per_node} * program->nodes <= most)
    return {};
  return std::to_string(program->os_processes_per_node) + " OS processes on each of " + std::to_string(program->nodes) +
         " nodes; at most " + std::to_string(most) + " in all are supported";
}

Problem wrong_number_of_processes(const PointConfig& point) {
  const ProgramParameters* program = program_of(point);
  if (program == nullptr)
    return {};
  const std::int64_t processes = processes_of(*program);
  const std::string& kind = point.workload.kind;
  const bool square = root_of(processes) * root_of(processes) == processes;
  if ((kind == "ping" || kind == "exchange") && processes % 2 != 0)
    return "processes come in pairs, but there are " + layout_of(*program);
  if (kind == "ring" && processes < 2)
    return "a ring needs two processes or more";
  if (kind == "collective" && point.workload.collective.operation != "barrier" && processes < 2)
    return "the operation \"" + point.workload.collective.operation + "\" needs two processes or more";
  if (kind == "pipeline" && processes < 2)
    return "a pipeline needs two processes or more";
  if (kind == "receivers" && program->processes_per_os_process < 3)
    return "an OS process needs one process that sends, one that computes and one or more that receive, but has " +
           std::to_string(program->processes_per_os_process);
  if (kind == "flocking" && processes <= 2 * std::int64_t{point.workload.flocking.grid} * point.workload.flocking.grid)
    return "two processes for each of " + std::to_string(point.workload.flocking.grid) + " x " +
           std::to_string(point.workload.flocking.grid) + " cells leave no bird among " + layout_of(*program);
  if (kind == "matrix-product" && !square)
    return "the processes form a square grid, but there are " + layout_of(*program);
  if (kind == "nas" && point.workload.nas.benchmark == "BT" && !square)
    return "BT needs a square number of processes, but there are " + layout_of(*program);
  if (kind == "nas" && point.workload.nas.benchmark != "BT" &&
      !std::has_single_bit(static_cast<std::uint64_t>(processes)))
    return point.workload.nas.benchmark + " needs a power of two processes, but there are " + layout_of(*program);
  return {};
}

Problem indivisible_matrix(const PointConfig& point) {
  const MatrixProductParameters& workload = point.workload.matrix_product;
  const std::int64_t side = root_of(processes_of(workload));
  if (side > 0 && workload.matrix_size % side == 0)
    return {};
  return "a matrix of " + std::to_string(workload.matrix_size) + " rows cannot be cut into " + std::to_string(side) +
         " blocks of rows";
}

/// Simulated time is an integer number of picoseconds, 106 days in all. A bound of what one core has to do, coarse but
/// above it: every message of an iteration is copied four times at the slowest rate, by one core.
Problem program_longer_than_time(const PointConfig& point) {
  constexpr double most_seconds = 1e6;
  const ProgramParameters* program = program_of(point);
  if (program == nullptr)
    return {};
  const WorkloadParameters& all = point.workload;
  const std::string& kind = all.kind;
  const double rate = std::min(
      {point.machine.memory.copy_bytes_per_second > 0 ? point.machine.memory.copy_bytes_per_second : 1e9,
       point.machine.memory.copy_far_bytes_per_second > 0 ? point.machine.memory.copy_far_bytes_per_second : 1e9,
       point.route.bytes_per_second});
  const auto processes = static_cast<double>(processes_of(*program));
  const auto own = static_cast<double>(program->processes_per_os_process);
  double messages = processes; // of an iteration
  double bytes = 0;            // of a message
  double work = 0;             // of a core, seconds
  if (kind == "ping") {
    bytes = static_cast<double>(all.ping.message_size_bytes);
  } else if (kind == "ring") {
    bytes = static_cast<double>(all.ring.message_size_bytes);
    messages *= processes; // against the order of the queue
  } else if (kind == "collective") {
    bytes = static_cast<double>(all.collective.message_size_bytes);
    messages *= 64;
    work = all.collective.work.in_seconds() * own;
  } else if (kind == "exchange") {
    bytes = static_cast<double>(all.exchange.volume_bytes);
    work = all.exchange.work.in_seconds();
  } else if (kind == "matrix-product") {
    const auto size = static_cast<double>(all.matrix_product.matrix_size);
    messages = 1;
    bytes = size * size * 32;
    work = size * size * size * 1e-6;
  } else if (kind == "pipeline") {
    messages *= all.pipeline.numbers;
    bytes = 4;
    work = all.pipeline.work.in_seconds() * all.pipeline.numbers * own;
  } else if (kind == "receivers") {
    bytes = static_cast<double>(all.receivers.message_size_bytes);
    work = all.receivers.work.in_seconds();
  } else if (kind == "flocking") {
    messages *= 20;
    bytes = static_cast<double>(all.flocking.bird_bytes) * 9.0 * processes;
    work = all.flocking.work.in_seconds() * own;
  } else {
    bytes = 1e6;
    work = 1e13 / all.nas.flops;
  }
  const double turns = messages * 1e-6 * (point.machine.coroutines.os_switch.in_seconds() * 1e6 + 1.0);
  const double iterations = static_cast<double>(program->iterations) + program->warmup_iterations;
  const double seconds = iterations * (turns + messages * 4.0 * bytes / rate + work);
  if (seconds <= most_seconds)
    return {};
  return "the run may take more than the " + std::to_string(static_cast<std::int64_t>(most_seconds)) +
         " seconds that can be simulated";
}

} // namespace

std::span<const Check> program_checks() {
  static constexpr std::array checks{Check{"machine.coroutines.light_switch", no_prices_for_processes},
                                     Check{"placement.threads", placed_besides_layout},
                                     Check{"workload.processes_per_os_process", too_many_processes},
                                     Check{"workload.nodes", too_many_os_processes},
                                     Check{"workload.processes_per_os_process", wrong_number_of_processes},
                                     Check{"workload.matrix_size", indivisible_matrix, "matrix-product"},
                                     Check{"workload.iterations", program_longer_than_time}};
  return checks;
}

} // namespace contend::scenario
