#include "workloads/programs/parameters.hpp"

#include <bit>

namespace contend {

namespace {

/// The largest whole number whose square is not above this one.
std::int64_t root_of(std::int64_t square) {
  std::int64_t root = 0;
  while ((root + 1) * (root + 1) <= square) {
    ++root;
  }
  return root;
}

bool is_square(std::int64_t number) { return root_of(number) * root_of(number) == number; }

std::string not_in_pairs(const ProgramParameters& program) {
  return program.processes() % 2 == 0 ? "" : "processes come in pairs, but there are " + program.layout();
}

std::string alone(const ProgramParameters& program, const std::string& what) {
  return program.processes() >= 2 ? "" : what + " needs two processes or more";
}

} // namespace

std::string ProgramParameters::layout() const {
  return std::to_string(processes()) + " processes (" + std::to_string(processes_per_os_process) +
         " in an OS process x " + std::to_string(os_processes_per_node) + " on a node x " + std::to_string(nodes) + ")";
}

std::string PingParameters::misfit() const { return not_in_pairs(*this); }

ProgramLoad PingParameters::at_most() const {
  return {static_cast<double>(processes()), static_cast<double>(message_size_bytes)};
}

std::string RingParameters::misfit() const { return alone(*this, "a ring"); }

ProgramLoad RingParameters::at_most() const {
  const auto all = static_cast<double>(processes());
  return {all * all, static_cast<double>(message_size_bytes)}; // against the order of the queue
}

std::string CollectiveParameters::misfit() const {
  return operation == "barrier" ? "" : alone(*this, "the operation \"" + operation + "\"");
}

ProgramLoad CollectiveParameters::at_most() const {
  return {64.0 * static_cast<double>(processes()), static_cast<double>(message_size_bytes),
          work.in_seconds() * processes_per_os_process};
}

std::string ExchangeParameters::misfit() const { return not_in_pairs(*this); }

ProgramLoad ExchangeParameters::at_most() const {
  return {static_cast<double>(processes()), static_cast<double>(volume_bytes), work.in_seconds()};
}

std::int64_t MatrixProductParameters::grid() const { return root_of(processes()); }

std::string MatrixProductParameters::misfit() const {
  return is_square(processes()) ? "" : "the processes form a square grid, but there are " + layout();
}

ProgramLoad MatrixProductParameters::at_most() const {
  const auto size = static_cast<double>(matrix_size);
  return {1, size * size * 32, size * size * size * 1e-6};
}

std::string PipelineParameters::misfit() const { return alone(*this, "a pipeline"); }

ProgramLoad PipelineParameters::at_most() const {
  return {static_cast<double>(processes()) * numbers, 4, work.in_seconds() * numbers * processes_per_os_process};
}

std::string ReceiversParameters::misfit() const {
  return processes_per_os_process >= 3 ? ""
                                       : "an OS process needs one process that sends, one that computes and one or "
                                         "more that receive, but has " +
                                             std::to_string(processes_per_os_process);
}

ProgramLoad ReceiversParameters::at_most() const {
  return {static_cast<double>(processes()), static_cast<double>(message_size_bytes), work.in_seconds()};
}

std::string FlockingParameters::misfit() const {
  return processes() > 2 * std::int64_t{grid} * grid
             ? ""
             : "two processes for each of " + std::to_string(grid) + " x " + std::to_string(grid) +
                   " cells leave no bird among " + layout();
}

ProgramLoad FlockingParameters::at_most() const {
  const auto all = static_cast<double>(processes());
  return {20 * all, static_cast<double>(bird_bytes) * 9.0 * all, work.in_seconds() * processes_per_os_process};
}

std::string NasParameters::misfit() const {
  if (benchmark == "BT") {
    return is_square(processes()) ? "" : "BT needs a square number of processes, but there are " + layout();
  }
  return std::has_single_bit(static_cast<std::uint64_t>(processes()))
             ? ""
             : benchmark + " needs a power of two processes, but there are " + layout();
}

ProgramLoad NasParameters::at_most() const { return {static_cast<double>(processes()), 1e6, 1e13 / flops}; }

} // namespace contend
