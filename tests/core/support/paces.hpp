// Cores of which some are slow, in a proportion in which prices stay round.
#pragma once

#include "core/engine.hpp"

#include <stdexcept>
#include <string>

namespace contend::test {

/// Work takes half of its price on a quick core, and one and a half of it on a slow one: factors without a rounding error.
inline constexpr SlowCoreParameters half_thrice{0.5, 3.0};

/// The first `cores` of a host, and two of them that differ.
struct MixedCores {
  explicit MixedCores(const Engine& engine, int cores = 8, const SlowCoreParameters& parameters = half_thrice)
      : paces(parameters, {.sockets = 1, .cores_per_socket = cores}, engine.stream("slow cores")) {
    for (int core = 0; core < cores; ++core) {
      (paces.on(core, 1'000'000_ps) < 1'000'000_ps ? quick : slow) = core;
    }
    if (quick < 0 || slow < 0) {
      throw std::logic_error("all cores are alike: take another seed");
    }
  }

  CorePaces paces;
  int quick = -1;
  int slow = -1;
};

/// An engine on whose host 0 cores differ.
inline MixedCores mix_cores(Engine& engine, int cores = 8) {
  MixedCores mixed(engine, cores);
  engine.set_core_paces(0, mixed.paces);
  return mixed;
}

} // namespace contend::test
