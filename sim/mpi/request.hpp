// A communication in progress, as the application sees it.
#pragma once

#include "models/matching/matcher.hpp"
#include "models/progress/sync_object.hpp"

#include <cstdint>

namespace contend {

/// Returned by isend and irecv; freed by a wait. Only the process that made it may touch it.
struct Request : PostedReceive {
  bool complete = true;
  std::int64_t bytes = 0;     ///< payload sent or received
  int received_tag = any_tag; ///< tag of the message that was received
  int instance = -1;          ///< the one that its messages are mapped to; -1: any
  SyncObject* sync = nullptr; ///< who waits for it
  int owner = 0;              ///< id of the thread that called; each thread sends and receives in one buffer of its own
};

} // namespace contend
