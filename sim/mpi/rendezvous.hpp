// A message above the eager limit: only its envelope travels at once, the payload follows when the receive is known.
#pragma once

#include "models/matching/envelope.hpp"

#include <cstdint>

namespace contend {

struct Request;

/// What the pointers in the headers of one such message lead to. The sender owns it; each side changes its own members.
struct Rendezvous {
  std::int64_t bytes = 0;
  int sender = 0;   ///< rank
  int receiver = 0; ///< rank

  Request* send = nullptr;
  std::int64_t handed_over = 0; ///< payload given to the interface, in pieces
  int pieces_under_way = 0;
  bool sender_done = false;

  Request* receive = nullptr;
  std::int64_t arrived = 0; ///< payload that has come in pieces
  bool receiver_done = false;
};

/// What one side of a rendezvous asks its interface to do next.
struct RendezvousStep {
  enum class Kind { transfer, piece, message };
  Kind kind = Kind::message; ///< all of the payload, a piece of it, or a message without payload
  Header header = Header::finish;
  Rendezvous* rendezvous = nullptr;
  std::int64_t bytes = 0; ///< payload of this step
};

} // namespace contend
