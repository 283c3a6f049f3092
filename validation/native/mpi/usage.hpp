// What the system charged the processes with.
#pragma once

#include "support/json.hpp"

#include <array>

namespace contend::native {

/// Times in seconds and switches between threads of this process so far.
struct Usage {
  double user_s = 0;
  double system_s = 0;
  double voluntary_switches = 0;
  double involuntary_switches = 0;

  [[nodiscard]] static Usage now();
  [[nodiscard]] Usage since(const Usage& earlier) const;
};

/// {"sender": {…}, "receiver": {…}}, summed over the ranks of each side. Collective; meaningful on rank 0.
[[nodiscard]] Json gather_usage(const Usage& mine, int side);

} // namespace contend::native
