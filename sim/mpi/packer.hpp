// MPI_Pack of a vector datatype, alone or with the help of threads that wait.
//
//   pack(data): if it is more than one piece: push a task for each but the first
//               copy the first; take tasks until none is left; wait for those that others have taken
#pragma once

#include "models/waiting/task_pool.hpp"
#include "mpi/process_context.hpp"
#include "mpi/progress_turns.hpp"

#include <cstdint>
#include <vector>

namespace contend {

class Packer {
public:
  /// `tasks`: of the library; nullptr: it has none, and nobody helps.
  Packer(ProcessContext& process, ProgressTurns& turns, TaskPool* tasks);

  /// Packs `bytes` in blocks of `block_bytes`.
  void pack(SimThread& self, std::int64_t bytes, std::int64_t block_bytes);

private:
  class Piece;

  ProcessContext& process_;
  ProgressTurns& turns_;
  TaskPool* tasks_;
  std::vector<int> packing_; ///< threads that copy data of a pack, by socket
};

} // namespace contend
