// A communication in progress, as the application sees it.
#pragma once

#include "models/matching/matcher.hpp"
#include "models/waiting/sync_object.hpp"
#include "mpi/status.hpp"

#include <cstdint>

namespace contend {

class UserSync;

/// Returned by isend and irecv; freed by a wait. Only the process that made it may touch it.
struct Request : PostedReceive {
  bool complete = true;
  bool active = true;     ///< under way, or complete and nobody knows; a persistent request is not until it is started
  std::int64_t bytes = 0; ///< payload sent or received
  int received_tag = any_tag;       ///< of the message that was received
  int received_source = any_source; ///< rank that it came from
  int instance = -1;                ///< the one that its messages are mapped to; -1: any
  SyncObject* sync = nullptr;       ///< who waits for it
  UserSync* user_sync = nullptr;    ///< where its completion is reported
  std::uint64_t callback = 0;       ///< what is reported with it
  int completed_on = -1;            ///< the core that completed it
  int held_by = -1;                 ///< the core that changed it last; -1: none yet
  int owner = 0; ///< id of the thread that called; each thread sends and receives in one buffer of its own

  /// What a persistent request does when it is started.
  enum class Persistent { no, send, receive };
  Persistent persistent = Persistent::no;
  int peer = 0;                  ///< of a persistent request: destination, or source
  int wanted_tag = any_tag;      ///< of a persistent request
  std::int64_t buffer_bytes = 0; ///< of a persistent request
};

} // namespace contend
