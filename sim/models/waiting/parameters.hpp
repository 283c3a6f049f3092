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
  /// Checking one of the handles that a call over several requests is given, before it looks at any: Open MPI's loop
  /// over the requests' instances (MPI_PARAM_CHECK), MPICH's checks of handles and their conversion to pointers.
  Duration handle{};
  Duration clock{}; ///< reading the clock: a program that times a call pays one reading
};

/// How threads of the library wait.
struct WaitingDesign {
  std::string notification = "sync-object"; ///< key in the notification registry: how a waiter learns of completions
  std::string idle = "sleep";               ///< key in the idling registry: what it does while others make progress
  /// What MPI_Waitany and MPI_Waitsome attach their sync object to. pending: the requests that are not complete; every:
  /// each, by a compare-and-swap (cache.atomic_hit) that fails at those that are complete, so that no other look is
  /// needed, and by another one to take it back (Open MPI); none: they look at the requests between turns of progress
  /// (MPICH).
  std::string attach = "pending";
  // How often the calls over several requests look at each.
  /// So often before they look for what is complete: whether each is active, and where to make progress for it.
  /// MPI_Testany takes what the first look finds, MPI_Testall looks once more at its end.
  int looks_before = 0;
  bool looks_again = false;         ///< tests that found nothing, after their turn of progress
  bool stops_at_incomplete = false; ///< MPI_Testall looks no further than the first request that is not complete
  int batch = 0;                    ///< MPI_Testall takes so many at a time, with a turn of progress for each; 0: all
  /// Which calls yield where turns of progress do (ProgressDesign). every-call: all, tests after an idle turn as well (Open MPI's
  /// opal_progress); waits: those that wait (MPICH with one lock); waits-for-all: not MPI_Waitany and MPI_Waitsome, whose turns
  /// are those of tests (MPICH with a lock for each interface).
  std::string yields = "every-call";
  int poll_every = 0; ///< MPI_Waitsome makes a turn of progress first, and one at every n-th request; 0: none
};

/// What becomes a task that threads with nothing better to do take (idle: steal).
struct TasksDesign {
  bool matching = false;                   ///< matching an arrived message; else the polling thread does it at once
  std::int64_t pack_piece_bytes = 1 << 16; ///< data of one task of a parallel pack
};

} // namespace contend
