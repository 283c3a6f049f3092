// A program of MPI processes that are coroutines.
#pragma once

#include "models/memory/compute_parameters.hpp"
#include "models/registry.hpp"
#include "mpi/coroutines/process.hpp"
#include "mpi/coroutines/world.hpp"
#include "workloads/parameters.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace contend {

/// What a simulated application does, as each of its processes sees it: warm-up iterations, a barrier, then timed iterations.
class Program {
public:
  explicit Program(const ProgramParameters& common)
      : common_(common), timed_(static_cast<std::size_t>(layout().os_processes())) {}
  virtual ~Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] ProcessLayout layout() const {
    return {common_.processes_per_os_process, common_.os_processes_per_node, common_.nodes};
  }
  /// The whole program of one process.
  CoTask run(CoProcess& self);

  /// Operations of the timed part, and of the whole run.
  [[nodiscard]] std::int64_t operations() const { return operations_per_iteration() * common_.iterations; }
  [[nodiscard]] std::uint64_t planned_operations() const;
  /// Payload of the timed part.
  [[nodiscard]] std::int64_t bytes() const { return bytes_per_iteration() * common_.iterations; }
  /// The longest that a process was in the timed part, which begins with a barrier: as a program on a real machine times.
  [[nodiscard]] Duration elapsed() const { return elapsed_; }
  /// Throws InvariantViolation when a process has not ended, or the application did not get what it waited for.
  virtual void check() const;

protected:
  virtual CoTask iterate(CoProcess& self, int iteration) = 0;
  [[nodiscard]] virtual std::int64_t operations_per_iteration() const { return 1; }
  [[nodiscard]] virtual std::int64_t bytes_per_iteration() const { return 0; }

private:
  void begin_timed_part(const OsProcess& os);

  ProgramParameters common_;
  std::vector<bool> timed_; ///< by OS process: whether one of its processes has begun the timed part
  std::int64_t ended_ = 0;
  Duration elapsed_;
};

/// Both parameters live only as long as the call: keep copies. Also made only to be asked for planned_operations(); one that is
/// run outlives its processes.
using ProgramFactory = std::unique_ptr<Program> (*)(const WorkloadParameters&, const ComputeParameters&);

/// All programs by kind of workload.
Registry<ProgramFactory>& program_registry();

} // namespace contend
