// A send, a receive, or a message that has arrived before its receive.
#pragma once

#include "models/matching/process_queues.hpp"
#include "mpi/status.hpp"

#include <cstdint>

namespace contend {

class CoProcess;
class OsProcess;

/// How the payload passes from one process to another of the same OS process.
enum class Transfer : std::uint8_t {
  copy,      ///< into a buffer that the receiver has
  hand_over, ///< the buffer on the heap changes its owner (zero copy), if both sides say so
};

/// An operation of a process, or a message that is kept for one. All are of one pool of the OS process and stand in the same
/// queues, whatever their mode.
struct CoRequest : QueuedOperation {
  enum class Kind : std::uint8_t {
    send,     ///< by a process of this OS process: the payload is in its buffer
    receive,  ///< by a process of this OS process
    buffered, ///< a message: the payload is in a buffer of the library's
    copied,   ///< a message whose payload the sender has copied as often as it is copied at all
    announced ///< a message: its sender waits for a word that the payload may come
  };
  Kind kind = Kind::send;
  Transfer transfer = Transfer::copy;
  bool complete = false;
  bool counted = false;       ///< the owner waits for it
  CoProcess* owner = nullptr; ///< of sends and receives
  std::int64_t bytes = 0;
  Status status;                  ///< of a complete receive
  CoRequest* announcer = nullptr; ///< announced: the request of the sender, which belongs to `from`
  OsProcess* from = nullptr;      ///< announced
};

} // namespace contend
