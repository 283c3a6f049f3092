// Barriers of coroutine processes.
#pragma once

#include "mpi/coroutines/process.hpp"
#include "mpi/coroutines/process_group.hpp"

namespace contend {

/// MPI_Barrier of all processes, by where they are. The processes of an OS process count themselves in. When all are in, its
/// first process, the leader, meets the leaders of the node at a counter and a flag in shared memory; the first OS
/// process's leader of each node meets those of other nodes by messages (dissemination). Each leader then lets all processes of
/// its OS process go on together.
CoTask hierarchical_barrier(CoProcess& self);

/// MPI_Barrier by messages alone (dissemination): log2(size) rounds, whoever is where.
CoTask dissemination_barrier(CoProcess& self, ProcessGroup group);

/// MPI_Barrier by messages alone: up a binomial tree, and down again.
CoTask tree_barrier(CoProcess& self, ProcessGroup group);

/// What the design says MPI_Barrier is.
CoTask barrier(CoProcess& self);

} // namespace contend
