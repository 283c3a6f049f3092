// Prices of waiting and testing, and how a library's threads wait.
#pragma once

#include "core/time.hpp"

#include <cstdint>
#include <string>

namespace contend {

/// CPU cost of waiting and testing, besides the cache lines and system calls that they use.
struct WaitingParameters {
  Duration check{};               ///< looking at one request that is in this core's cache: complete or not
  std::int64_t request_bytes = 0; ///< cache footprint of one request
  int misses_at_once = 1;         ///< looks at requests that are not in this core's cache and overlap
  Duration detach{};              ///< taking one request from a sync object again: a compare-and-swap that succeeds
  Duration start{};               ///< MPI_Start of a persistent request, besides what the operation itself does
  Duration query{};               ///< one completion out of a user-level sync object: entry and exit, unlinking
  Duration task{};                ///< making a piece of work a task, or a task a piece of work, besides the pool's line
};

/// How threads of the library wait.
struct WaitingDesign {
  std::string notification = "sync-object"; ///< key in the notification registry: how a waiter learns of completions
  std::string idle = "sleep";               ///< key in the idling registry: what it does while others make progress
};

/// What becomes a task that threads with nothing better to do take (idle: steal).
struct TasksDesign {
  bool matching = false;                   ///< matching an arrived message; else the polling thread does it at once
  std::int64_t pack_piece_bytes = 1 << 16; ///< data of one task of a parallel pack
};

} // namespace contend
