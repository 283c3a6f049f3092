// Programs of MPI processes that are coroutines; other workloads pass.
#include "scenario/checks/check.hpp"

#include <algorithm>
#include <array>

namespace contend::scenario {

namespace {

/// What checks ask of a program.
struct ProgramKind {
  const char* name;
  const ProgramParameters& (*common)(const WorkloadParameters&);
  Problem (*misfit)(const WorkloadParameters&);
  ProgramLoad (*at_most)(const WorkloadParameters&);
};

template <auto Member>
constexpr ProgramKind program(const char* name) {
  return {name, [](const WorkloadParameters& all) -> const ProgramParameters& { return all.*Member; },
          [](const WorkloadParameters& all) { return (all.*Member).misfit(); },
          [](const WorkloadParameters& all) { return (all.*Member).at_most(); }};
}

using All = WorkloadParameters;
constexpr std::array kinds{program<&All::ping>("ping"),
                           program<&All::ring>("ring"),
                           program<&All::collective>("collective"),
                           program<&All::exchange>("exchange"),
                           program<&All::matrix_product>("matrix-product"),
                           program<&All::pipeline>("pipeline"),
                           program<&All::receivers>("receivers"),
                           program<&All::flocking>("flocking"),
                           program<&All::nas>("nas")};

/// The program of a point; nullptr: its workload is none.
const ProgramKind* kind_of(const PointConfig& point) {
  const auto* const found = std::find_if(kinds.begin(), kinds.end(),
                                         [&](const ProgramKind& kind) { return point.workload.kind == kind.name; });
  return found == kinds.end() ? nullptr : found;
}

const ProgramParameters* program_of(const PointConfig& point) {
  const ProgramKind* const kind = kind_of(point);
  return kind == nullptr ? nullptr : &kind->common(point.workload);
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
  if (program == nullptr || (program->os_processes() <= most && program->processes() <= most))
    return {};
  return program->layout() + "; at most " + std::to_string(most) + " fit into memory";
}

Problem too_many_os_processes(const PointConfig& point) {
  constexpr std::int64_t most = 16384; // each has a stack of its own, which takes two mappings
  const ProgramParameters* program = program_of(point);
  if (program == nullptr || program->os_processes() <= most)
    return {};
  return std::to_string(program->os_processes_per_node) + " OS processes on each of " + std::to_string(program->nodes) +
         " nodes; at most " + std::to_string(most) + " in all are supported";
}

Problem wrong_number_of_processes(const PointConfig& point) {
  const ProgramKind* const kind = kind_of(point);
  return kind == nullptr ? Problem{} : kind->misfit(point.workload);
}

Problem indivisible_matrix(const PointConfig& point) {
  const MatrixProductParameters& workload = point.workload.matrix_product;
  const std::int64_t side = workload.grid();
  if (side > 0 && workload.matrix_size % side == 0)
    return {};
  return "a matrix of " + std::to_string(workload.matrix_size) + " rows cannot be cut into " + std::to_string(side) +
         " blocks of rows";
}

/// Simulated time is an integer number of picoseconds, 106 days in all. A bound of what one core has to do, coarse but
/// above it: every message of an iteration is copied four times at the slowest rate, by one core.
Problem program_longer_than_time(const PointConfig& point) {
  constexpr double most_seconds = 1e6;
  const ProgramKind* const kind = kind_of(point);
  if (kind == nullptr)
    return {};
  const MemoryParameters& memory = point.machine.memory;
  const double rate = std::min({memory.copy_bytes_per_second > 0 ? memory.copy_bytes_per_second : 1e9,
                                memory.copy_far_bytes_per_second > 0 ? memory.copy_far_bytes_per_second : 1e9,
                                point.route.bytes_per_second});
  const ProgramLoad load = kind->at_most(point.workload);
  const double turns = load.messages * 1e-6 * (point.machine.coroutines.os_switch.in_seconds() * 1e6 + 1.0);
  const ProgramParameters& program = kind->common(point.workload);
  const double iterations = static_cast<double>(program.iterations) + program.warmup_iterations;
  const double seconds = iterations * (turns + load.messages * 4.0 * load.bytes / rate + load.work_seconds);
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
