#include "workloads/programs/program.hpp"

#include "mpi/coroutines/barrier.hpp"

#include <algorithm>
#include <string>

namespace contend {

Task Program::run(CoProcess& self) {
  for (int iteration = 0; iteration < common_.warmup_iterations; ++iteration) {
    co_await iterate(self, iteration);
  }
  co_await barrier(self);
  const TimePoint begin = self.now();
  for (int iteration = 0; iteration < common_.iterations; ++iteration) {
    co_await iterate(self, common_.warmup_iterations + iteration);
  }
  elapsed_ = std::max(elapsed_, self.now() - begin);
  ++ended_;
}

std::uint64_t Program::planned_operations() const {
  return static_cast<std::uint64_t>(operations_per_iteration()) *
         (static_cast<std::uint64_t>(common_.iterations) + static_cast<std::uint64_t>(common_.warmup_iterations));
}

void Program::check() const {
  if (ended_ != layout().processes()) {
    throw InvariantViolation(std::to_string(ended_) + " of " + std::to_string(layout().processes()) +
                             " MPI processes came to their end");
  }
}

} // namespace contend
