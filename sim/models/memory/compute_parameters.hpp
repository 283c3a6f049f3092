// What computing costs.
#pragma once

#include "core/time.hpp"

namespace contend {

/// What computing costs on one core while data is in L1, besides what WorkingSet adds. A time of 0 means that the machine's
/// profile says nothing about it.
struct ComputeParameters {
  Duration multiply_add{};   ///< one step of a loop that adds products up: it waits for the last sum
  Duration loop_exit{};      ///< leaving an inner loop: a mispredicted branch
  double kernel_flops = 1e9; ///< a tuned matrix product of large blocks, floating-point operations per second
  Duration kernel_element{}; ///< the same, for each element of a block: copying it into the order that the kernel wants
  Duration kernel_call{};    ///< the same, each call
};

} // namespace contend
