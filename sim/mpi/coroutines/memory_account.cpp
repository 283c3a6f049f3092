#include "mpi/coroutines/memory_account.hpp"

#include <bit>

namespace contend {

namespace {

constexpr std::int64_t connection_bytes = 64; ///< a virtual connection with its reference: a cache line
constexpr std::int64_t name_bytes = 4;        ///< an entry of the table from world ranks to OS processes

std::int64_t bits_of_rank(const ProcessLayout& layout) {
  return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(layout.processes() - 1)));
}

MemoryAccount of_os_process(const ProcessLayout& layout, std::int64_t per_process, std::int64_t per_os_process) {
  return {per_process, per_os_process, per_os_process * layout.os_processes_per_node,
          per_os_process * layout.os_processes()};
}

} // namespace

MemoryAccount process_memory(const ProcessLayout& layout, const CoroutineDesign& design) {
  const bool coroutines = layout.processes_per_os_process > 1;
  const std::int64_t own = coroutines ? design.descriptor_bytes + design.stack_bytes : 0;
  const std::int64_t tables =
      layout.os_processes() * connection_bytes + (coroutines ? std::int64_t{layout.processes()} * name_bytes : 0);
  return of_os_process(layout, own, own * layout.processes_per_os_process + tables);
}

std::int64_t map_bytes(const ProcessLayout& layout, std::int64_t members) {
  constexpr std::int64_t bits_of_byte = 8;
  return (members * bits_of_rank(layout) + bits_of_byte - 1) / bits_of_byte;
}

MemoryAccount world_map_memory(const ProcessLayout& layout, bool shared) {
  const std::int64_t map = map_bytes(layout, layout.processes());
  return of_os_process(layout, shared ? 0 : map, shared ? map : map * layout.processes_per_os_process);
}

} // namespace contend
