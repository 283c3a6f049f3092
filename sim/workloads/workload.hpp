// What a simulated application does with the library.
#pragma once

#include "core/category.hpp"
#include "core/processor_use.hpp"
#include "core/time.hpp"
#include "models/registry.hpp"
#include "mpi/world.hpp"
#include "workloads/parameters.hpp"
#include "workloads/role.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// How a workload on locks was served, in its timed part.
struct LockUseStatistics {
  double acquisitions_mean = 0.0; ///< per thread
  double acquisitions_sd = 0.0;   ///< over threads
  std::int64_t acquisitions_least = 0;
  std::int64_t acquisitions_most = 0;
  double wait_mean_ns =
      0.0; ///< from the call of lock() or the first attempt until the lock is there, or the section begins
  double wait_sd_ns = 0.0;
  double wait_max_ns = 0.0;
  std::int64_t hand_overs = 0; ///< acquisitions whose lock another thread had before
  std::int64_t refused = 0;    ///< attempts, or compare-and-swaps, that failed
  std::int64_t delegated = 0;  ///< operations "execute" whose section another thread has run
};

/// What the timed part of a run came to.
struct WorkloadResult {
  std::int64_t operations = 0; ///< completed in the timed part
  std::int64_t bytes = 0;      ///< payload that they moved
  Duration elapsed{};
  std::array<SimThread::Times, 2> times{}; ///< by role, timed part only, all threads of the role together
  std::array<ProcessorUse, 2> use{};       ///< by role, timed part only
  std::array<int, 2> threads{};            ///< by role
  /// What only some workloads measure, under its name in results: SI units, bandwidths in MiB/s. One that others do not measure is
  /// called after its unit: round_trip_s, gap_ns, naps_per_s; without such an end it is a bare number. Not a name that results have
  /// for something else.
  std::vector<std::pair<std::string, double>> measures;
  std::optional<LockUseStatistics> locks; ///< of a workload that is about locks
  std::vector<std::string> notes;         ///< what a user has to know of these numbers

  /// One more thread of a role, with the time that it has spent.
  void add(Role role, const SimThread& thread) {
    SimThread::Times& sum = times[static_cast<std::size_t>(role)];
    std::transform(sum.begin(), sum.end(), thread.times().begin(), sum.begin(), std::plus<>());
    use[static_cast<std::size_t>(role)] += thread.processor_use();
    ++threads[static_cast<std::size_t>(role)];
  }
};

class Workload {
public:
  virtual ~Workload() = default;
  /// Ranks by host: rank r runs on host host_of_rank()[r].
  [[nodiscard]] virtual std::vector<int> host_of_rank() const = 0;
  [[nodiscard]] virtual Role role_of_rank(int rank) const = 0;
  /// That of one of a rank's threads, where not all have the same.
  [[nodiscard]] virtual Role role_of(const SimThread& thread) const { return role_of_rank(thread.process()); }
  /// Operations of the whole run, warm-up included.
  [[nodiscard]] virtual std::uint64_t planned_operations() const = 0;
  /// Creates communicators and threads. The world has its ranks; it outlives the workload, and the workload all that its threads do.
  virtual void start(World& world) = 0;
  /// After the run. Throws InvariantViolation when the application's own checks fail.
  [[nodiscard]] virtual WorkloadResult result(const World& world) const = 0;
};

/// The parameters live only as long as the call: keep a copy. Also made only to be asked for planned_operations().
using WorkloadFactory = std::unique_ptr<Workload> (*)(const WorkloadParameters&);

/// All workloads by kind.
Registry<WorkloadFactory>& workload_registry();

} // namespace contend
