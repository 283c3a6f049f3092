// What one OS process sends to another.
#pragma once

#include "core/cache_line.hpp"
#include "mpi/coroutines/request.hpp"

#include <cstdint>

namespace contend {

class OsProcess;

/// A mailbox for one small message at a time, from one OS process to another of its node: one cache line and what it holds.
struct Fastbox {
  Fastbox(Engine& engine, const Host& host) : line(engine, host, "fastbox") {}
  CacheLine line;
  bool full = false;
};

/// The payload of a large message on its way, piece by piece; belongs to the sender's OS process.
struct LargeSend {
  CoRequest* send = nullptr;
  CoRequest* receive = nullptr; ///< at the other side
  OsProcess* to = nullptr;
  std::int64_t left = 0; ///< bytes that are not handed over yet
  int under_way = 0;     ///< pieces that are handed over and not taken out yet
};

/// A packet: an element of a queue in shared memory, or a message in a stream.
struct CoPacket {
  enum class Kind : std::uint8_t {
    eager,    ///< a message with its payload
    announce, ///< a large message without (RTS)
    invite,   ///< to the sender: the payload may come (CTS)
    piece,    ///< of a payload
    room,     ///< to the sender, from the kernel: a piece has been read, the stream takes another one
  };
  Kind kind = Kind::eager;
  bool last = false; ///< piece
  ProcessEnvelope envelope;
  std::int64_t bytes = 0; ///< of the whole message; of the piece
  OsProcess* from = nullptr;
  CoRequest* send = nullptr;
  CoRequest* receive = nullptr;
  LargeSend* large = nullptr;
  Fastbox* box = nullptr; ///< it came through
  CoPacket* next = nullptr;
};

} // namespace contend
