// A set of processes that call a collective operation together.
#pragma once

#include "mpi/coroutines/process.hpp"

#include <cstdint>

namespace contend {

/// Processes at equal distances in world ranks: all of them, a row or a column of a grid. Their messages match in `context`.
struct ProcessGroup {
  int first = 0;
  int stride = 1;
  int size = 1;
  std::int32_t context = collective_context;

  [[nodiscard]] int world_rank(int index) const { return first + index * stride; }
  [[nodiscard]] int index_of(int rank) const { return (rank - first) / stride; }

  [[nodiscard]] static ProcessGroup world(const CoProcess& process) { return {0, 1, process.size()}; }
};

} // namespace contend
