// A message above the eager limit: only its envelope travels at once, the payload follows when the receive is known.
#pragma once

#include "core/ring_queue.hpp"
#include "models/matching/envelope.hpp"

#include <cstdint>
#include <map>
#include <utility>

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
  bool pieces_wait = false; ///< for room: nobody goes on with them but who finds some
  bool sender_done = false;

  Request* receive = nullptr;
  std::int64_t arrived = 0; ///< payload that has come in pieces
  bool receiver_done = false;
};

/// What one side of a rendezvous asks its interface to do next.
struct RendezvousStep {
  enum class Kind { message, piece, transfer };
  Kind kind = Kind::message; ///< a message without payload, a piece of the payload, or all of it
  Header header = Header::finish;
  Rendezvous* rendezvous = nullptr;
  std::int64_t bytes = 0; ///< payload of this step
};

/// Steps that found no room, by the connection that they wait for; any instance's where threads choose instances.
/// Those of one connection go in turn, so that one look tells whether any of them may.
struct WaitingSteps {
  std::map<std::pair<int, int>, RingQueue<RendezvousStep>> by_connection; ///< by (instance or -1, peer)
  std::pair<int, int> tried_last{-1, -1}; ///< connections that share memory have it in turns
};

} // namespace contend
