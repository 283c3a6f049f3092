#include "workloads/programs/program.hpp"

#include "mpi/coroutines/barrier.hpp"
#include "mpi/coroutines/os_process.hpp"

#include <algorithm>
#include <string>

namespace contend {

CoTask Program::run(CoProcess& self) {
  for (int iteration = 0; iteration < common_.warmup_iterations; ++iteration) {
    co_await iterate(self, iteration);
  }
  co_await barrier(self);
  begin_timed_part(self.os());
  const TimePoint begin = self.now();
  for (int iteration = 0; iteration < common_.iterations; ++iteration) {
    co_await iterate(self, common_.warmup_iterations + iteration);
  }
  elapsed_ = std::max(elapsed_, self.now() - begin);
  ++ended_;
}

/// All processes of an OS process share its thread, whose accounts begin with the first of them.
void Program::begin_timed_part(const OsProcess& os) {
  const auto number = static_cast<std::size_t>(os.number());
  if (!timed_[number]) {
    timed_[number] = true;
    os.thread().reset_times();
  }
}

std::uint64_t Program::planned_operations() const {
  constexpr std::uint64_t many = 1'000'000'000'000; // no run comes to so many
  // Whatever counts as an operation, every process takes part in every iteration.
  const auto each =
      static_cast<std::uint64_t>(std::max<std::int64_t>(operations_per_iteration(), layout().processes()));
  const auto all =
      static_cast<std::uint64_t>(common_.iterations) + static_cast<std::uint64_t>(common_.warmup_iterations);
  return std::min(many, each * all);
}

void Program::check() const {
  if (ended_ != layout().processes()) {
    throw InvariantViolation(std::to_string(ended_) + " of " + std::to_string(layout().processes()) +
                             " MPI processes came to their end");
  }
}

} // namespace contend
