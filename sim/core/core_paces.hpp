// Cores of a host that are not all equally fast: on a virtual machine some share their execution units with hardware threads of
// other tenants, and stay slow for as long as those compute.
#pragma once

#include "core/machine_parameters.hpp"
#include "core/random.hpp"
#include "core/time.hpp"

#include <vector>

namespace contend {

/// What work takes on each core of a host, as a factor of what it takes on average over quick and slow ones: prices are such averages.
/// Which cores are slow is drawn once for each run. What is no work of a core (the way of a cache line, a time for which a
/// benchmark computes by the clock, PAUSE in a spin loop) takes the same everywhere.
class CorePaces {
public:
  /// Each core is slow with a probability of `parameters.share`, with all of its hardware threads. Requires
  /// parameters.slowdown >= 1.
  CorePaces(const SlowCoreParameters& parameters, const TopologyParameters& topology, RandomStream random) {
    const double quick = 1.0 / (1.0 + parameters.share * (parameters.slowdown - 1.0));
    const int cores = topology.hardware_threads() / topology.threads_per_core;
    for (int core = 0; core < cores; ++core) {
      const double factor = random.uniform() < parameters.share ? quick * parameters.slowdown : quick;
      factors_.insert(factors_.end(), static_cast<std::size_t>(topology.threads_per_core), factor);
    }
  }

  /// Time that work takes on `core` for which a price says `span`.
  [[nodiscard]] Duration on(int core, Duration span) const {
    return span.scaled(factors_[static_cast<std::size_t>(core)]);
  }

private:
  std::vector<double> factors_; ///< by hardware thread
};

} // namespace contend
