// Prices of MPI processes that are coroutines of one process of the operating system.
#pragma once

#include "core/time.hpp"

#include <cstdint>
#include <string>

namespace contend {

/// Prices of running several MPI processes in one process of the operating system. A switch of 0 means that the machine's
/// profile says nothing about it.
struct CoroutineParameters {
  Duration light_switch{};    ///< from one coroutine through the scheduler to the next, light-weight coroutine library
  Duration portable_switch{}; ///< the same with a portable library
  Duration os_switch{};       ///< the same by the operating system, from one process to another
  Duration check{};           ///< a process that was switched to looks whether what it waits for has happened
  int stack_lines = 0;        ///< cache lines of a process's own (stack, descriptor) that a switch and a call touch
  int library_lines = 0;      ///< cache lines of the library that a message touches
  Duration buffer{};          ///< taking or freeing a message buffer on the heap
};

/// Prices of the queues in shared memory between the processes of one node, besides the transfers of their cache lines.
struct ChannelParameters {
  Duration enqueue{};        ///< filling in and linking a cell
  Duration dequeue{};        ///< unlinking a cell and giving it back
  Duration meet{};           ///< a leader's part in the barrier of a node, each time it does something there
  Duration poll{};           ///< looking at empty queues
  Duration socket_send{};    ///< CPU: handing a message to the stream socket of another node, besides its bytes
  Duration socket_receive{}; ///< CPU: taking it from there
  Duration socket_poll{};    ///< asking the sockets for something to do: part of every look at the queues
};

/// How MPI processes share a process of the operating system.
struct CoroutineDesign {
  std::string scheduler = "round-robin";    ///< key in the registry of scheduling policies
  std::string backend = "light";            ///< what switches: light, portable, os
  std::string queues = "array-by-receiver"; ///< key in the registry of process queues
  /// Messages inside one OS process. one-copy: from the user's buffer to the user's buffer, a send that finds no receive
  /// waits for it; buffered: through a message of the runtime's, copied `copies` times in all; channel: through the queues
  /// in shared memory, as between OS processes.
  std::string colocated = "one-copy";
  int copies = 2;                       ///< see colocated
  std::string wake = "tail";            ///< where a process that was blocked joins the run queue: head, tail
  std::string barrier = "hierarchical"; ///< hierarchical, dissemination, tree: see mpi/coroutines/barrier.hpp
  std::string maps = "shared";          ///< group maps: shared by an OS process, or per-process
  std::string context_ids = "leader";   ///< how a new communicator gets its number: leader, or by a bitmap of all
  std::int64_t fastbox_bytes = 64;      ///< largest message, header included, that fits a fastbox; 0: no fastboxes
  std::int64_t cell_bytes = 65536;      ///< a queue element; larger messages travel in pieces of this size
  int cells_under_way = 2;              ///< pieces of one message that are copied in and not yet out
  int stream_cells_under_way = 0;    ///< the same in a stream: what the socket buffers of both sides hold; 0: all of it
  std::int64_t envelope_bytes = 16;  ///< what identifies a message, on the wire in front of everything else
  std::int64_t stack_bytes = 131072; ///< for accounts of memory
  std::int64_t descriptor_bytes = 1328; ///< likewise
};

} // namespace contend
