// What the one-sided benchmark is asked to do: the same keys as a scenario's workload.
#pragma once

#include "support/json.hpp"
#include "support/options.hpp"

#include <cstdint>
#include <string>

namespace contend::native {

struct RmaWorkload {
  std::string operation = "put";
  std::string synchronisation = "flush";
  std::string synchronised_by = "every-thread";
  bool window_per_thread = false;
  std::int64_t threads = 1;
  std::int64_t message_size = 8;
  std::int64_t operations = 1000;
  std::int64_t iterations = 10;
  std::int64_t warmup_iterations = 2;

  void declare(Options& options);
  /// Throws Failure(bad_options).
  void check() const;

  /// Operations complete by a flush inside one long epoch.
  [[nodiscard]] bool flushes() const { return synchronisation.rfind("flush", 0) == 0; }
  [[nodiscard]] bool fences() const { return synchronisation == "fence"; }
  /// Operations that change the target by adding to it.
  [[nodiscard]] bool adds() const { return operation == "accumulate" || operation == "fetch-and-op"; }
  [[nodiscard]] int windows() const { return window_per_thread ? static_cast<int>(threads) : 1; }
  [[nodiscard]] Json describe() const;
};

} // namespace contend::native
