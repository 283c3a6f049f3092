// How a library makes progress.
#pragma once

#include <string>

namespace contend {

struct ProgressDesign {
  std::string engine = "ownership";   ///< key in the progress registry
  std::string lock = "pthread-mutex"; ///< lock kind of the engine's own lock
  int threads_in_progress = 0;        ///< waiting threads that may poll at a time; 0: the engine's own rule
  /// A thread counts against that limit only while it polls, see WaitRing.
  bool lenient_limit = false;
  /// A thread whose turn found nothing lets others have its core (mpi_yield_when_idle of Open MPI).
  bool yield_when_idle = false;
  /// A thread that waits does so after every turn, one that tests does not (MPICH's ch4: MPID_Progress_wait is a turn and a
  /// yield, MPI_Test calls MPID_Progress_test).
  bool yield_every_turn = false;
  /// A turn also polls an interface of another device, through which nothing comes, under the instance's lock, which it takes
  /// once more (with one lock around every call there is none to take). none: there is no other; before: in every turn; after:
  /// only where this one had nothing (MPIDI_PROGRESS of MPICH's ch4: shared memory, then the network).
  std::string other_interface = "none";
  /// A turn that has found something at an interface polls it again, under the same hold of its lock, until it finds nothing
  /// (event_base_loop() of libevent without EVLOOP_ONCE, by which Open MPI polls sockets).
  bool polls_until_empty = false;
  int queue_slots = 1024; ///< commands that can wait for a progress thread
  int global_every = 256; ///< engines that poll their own targets poll all of them at every n-th turn
};

} // namespace contend
