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
  int adaptive_spins = 100; ///< most attempts of an adaptive mutex before it sleeps (glibc: MAX_ADAPTIVE_COUNT)
  int nap_after = 0;        ///< turns of a spinning thread after which it sleeps for `nap` between turns; 0: never
  Duration nap{};           ///< length of such a sleep (folly's Sleeper: 4000 turns, 500 us)
  int ticket_lines = 2;     ///< 1: the two counters of a ticket lock share a line; 2: each has its own
  /// A pthread mutex's kind shares the line of its word, and each call reads it before it touches the word (glibc, all releases).
  bool mutex_reads_kind = false;
  /// pthread_mutex_trylock makes no attempt where the word says that the mutex is taken (glibc 2.43, BZ 33704, and older ones that
  /// distributions have patched).
  bool mutex_tests_first = false;
};

} // namespace contend
