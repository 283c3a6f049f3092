// Collective operations by point-to-point messages, as an MPI library without coroutines does them.
#pragma once

#include "mpi/coroutines/process.hpp"
#include "mpi/coroutines/process_group.hpp"

#include <cstdint>

namespace contend {

/// MPI_Bcast of `bytes` from the group's process number `root`: a binomial tree.
CoTask broadcast(CoProcess& self, ProcessGroup group, int root, std::int64_t bytes);

/// MPI_Reduce to the process number `root`: a binomial tree. Combining two buffers costs as
/// much as a copy of them.
CoTask reduce(CoProcess& self, ProcessGroup group, int root, std::int64_t bytes);

/// MPI_Allreduce: recursive doubling; processes beyond the largest power of two send to a partner first and get the result
/// from it.
CoTask all_reduce(CoProcess& self, ProcessGroup group, std::int64_t bytes);

/// MPI_Gather of `bytes` from each process to number `root`: directly, in order of rank.
CoTask gather(CoProcess& self, ProcessGroup group, int root, std::int64_t bytes);

/// MPI_Scatter, likewise.
CoTask scatter(CoProcess& self, ProcessGroup group, int root, std::int64_t bytes);

/// MPI_Alltoall of `bytes` to each other process: in step s with the processes at distance s.
CoTask all_to_all(CoProcess& self, ProcessGroup group, std::int64_t bytes);

} // namespace contend
