// What a message says about itself on the wire.
#pragma once

#include <cstdint>

namespace contend {

struct PostedReceive;

inline constexpr int any_source = -1;
inline constexpr int any_tag = -1;

/// What a packet asks the receiving library to do (ob1's header types, with UCX's counterparts in brackets).
enum class Header : std::uint8_t {
  eager,       ///< match it; the payload is here
  rendezvous,  ///< match it, then see to it that the payload comes: RNDV, RGET (RTS)
  acknowledge, ///< to the sender: matched, the payload may come: ACK, PUT (RTR)
  fragment,    ///< a piece of payload: FRAG
  finish,      ///< to the side that cannot see the end of a transfer: FIN (ATS, ATP)
  active,      ///< nothing to match: a handler takes it
};

class ActiveMessage;
struct Rendezvous;

/// Match header of a message. Queues copy it: a cache line, and no more.
struct Envelope {
  int communicator = 0;
  int source = 0;
  int tag = 0;
  std::uint16_t sequence = 0; ///< per (communicator, peer); wraps. Meaningless when overtaking is allowed.
  std::int64_t bytes = 0;     ///< payload of the message; of the piece, in a fragment
  Header header = Header::eager;
  Rendezvous* rendezvous = nullptr; ///< the message that a header other than eager and active is about
  ActiveMessage* active = nullptr;  ///< header active: its handler; nullptr: such messages are only counted

  // Written by a receiving interface that matches messages itself, see HardwareMatcher.
  PostedReceive* matched = nullptr; ///< the receive that it has found
  bool missed = false;              ///< it has looked and found none

  /// Written by a receiving library that had to keep it out of its sequence: header and payload are in a fragment of its own.
  bool kept = false;

  std::uint32_t number = 0; ///< see MessageNumber; 0 unless the run is traced
};
static_assert(sizeof(Envelope) <= 64);

} // namespace contend
