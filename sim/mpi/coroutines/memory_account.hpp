// What a job's processes and communicators take in the memory of the machine that is simulated.
#pragma once

#include "models/coroutines/parameters.hpp"
#include "mpi/coroutines/layout.hpp"

#include <cstdint>

namespace contend {

/// Bytes, by where they are. Group maps have entries of as many bits as a world rank needs.
struct MemoryAccount {
  std::int64_t per_process = 0;    ///< descriptor and stack of one MPI process; none without coroutines
  std::int64_t per_os_process = 0; ///< these of all its processes, and what they share: tables of names and connections
  std::int64_t per_node = 0;
  std::int64_t total = 0;
};

/// Descriptors, stacks and tables of a job. With coroutines an OS process has one table of connections, with an entry for each
/// OS process, and one from world ranks to OS processes; without, a connection for each process.
[[nodiscard]] MemoryAccount process_memory(const ProcessLayout& layout, const CoroutineDesign& design);

/// One group map of `members` processes.
[[nodiscard]] std::int64_t map_bytes(const ProcessLayout& layout, std::int64_t members);

/// The maps of a communicator of the whole job that is no copy of the predefined one (whose map is the identity, 0 bytes):
/// one for each process, or one for each OS process where they are shared.
[[nodiscard]] MemoryAccount world_map_memory(const ProcessLayout& layout, bool shared);

} // namespace contend
