// Tunables of lock algorithms.
#pragma once

#include "core/time.hpp"

namespace contend {

/// Tunables that belong to lock algorithms rather than to the machine.
struct LockParameters {
  Duration pause{};           ///< one turn of a spin loop (PAUSE instruction and test)
  Duration backoff_minimum{}; ///< first back-off of a TTAS lock after a lost race; zero: no back-off
  Duration backoff_maximum{}; ///< back-off doubles up to this value

  // What not every profile says.
  /// adaptive: most attempts before a thread sleeps (glibc: MAX_ADAPTIVE_COUNT); ttas-futex: looks before it sleeps
  int adaptive_spins = 100;
  /// tas, tas-bit, ttas, ttas-eager, ttas-yield and distributed-mutex: turns of a spinning thread after which it sleeps for `nap`
  /// between turns; 0: never
  int nap_after = 0;
  Duration nap{}; ///< length of such a sleep (folly's Sleeper: 4000 turns, 500 us)
  /// ticket and ticket-yield. 1: the two counters share a line; 2: each has its own. ticket-blocking always has one line, and
  /// priority two for each of its three tickets
  int ticket_lines = 2;
  /// A pthread mutex's kind shares the line of its word, and each call reads it before it touches the word (glibc, all releases).
  bool mutex_reads_kind = false;
  /// pthread_mutex_trylock makes no attempt where the word says that the mutex is taken (glibc 2.43, BZ 33704, and older ones that
  /// distributions have patched).
  bool mutex_tests_first = false;
};

} // namespace contend
