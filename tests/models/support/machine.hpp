// A small machine whose prices are all different, so that a sum of prices tells which ones it is made of.
#pragma once

#include "core/engine.hpp"
#include "core/host.hpp"
#include "models/locks/parameters.hpp"
#include "models/matching/parameters.hpp"
#include "printing.hpp"

namespace contend::test {

/// Two sockets of four cores with two hardware threads each: cores 0..7 and 8..15, siblings 2k and 2k + 1.
inline constexpr TopologyParameters small_topology{2, 4, 2};

/// Prices in picoseconds.
inline CacheParameters small_cache() {
  CacheParameters cache;
  cache.hit = 1'003_ps;
  cache.atomic_hit = 7'019_ps;
  cache.transfer_smt = 11'027_ps;
  cache.transfer_socket = 53'047_ps;
  cache.transfer_remote = 131'071_ps;
  cache.l2_hit = 4'001_ps;
  cache.l3_hit = 19'051_ps;
  cache.l2_bytes = 1 << 18;
  return cache;
}

inline FutexParameters small_futex() {
  FutexParameters futex;
  futex.wait_call = 901'007_ps;
  futex.wake_call = 701'009_ps;
  futex.empty_wake_call = 101'021_ps;
  futex.wake_latency = 2'003'003_ps;
  return futex;
}

inline LockParameters small_locks() {
  LockParameters locks;
  locks.pause = 5'003_ps;
  locks.backoff_minimum = 20'011_ps;
  locks.backoff_maximum = 320'027_ps;
  return locks;
}

/// The same where requests for a line are ordered at its home.
inline CacheParameters home_ordered() {
  CacheParameters prices = small_cache();
  prices.home_order = true;
  return prices;
}

inline const CacheParameters cache = small_cache();
inline const Duration pause_time = small_locks().pause;

inline Host small_host() { return {small_topology, small_cache(), small_futex()}; }

/// A host on which every access to memory and every system call is free: what is left is the order of things.
inline Host free_host() { return {small_topology, CacheParameters{}, FutexParameters{}}; }

/// One socket of 16 cores: every transfer takes as long.
inline Host flat_host(const CacheParameters& prices = small_cache()) {
  FutexParameters futex = small_futex();
  futex.yield_call = 403'001_ps;
  return {TopologyParameters{1, 16, 1}, prices, futex};
}

/// Time that a thread has spent in a category so far.
inline Duration spent(const SimThread& thread, Category category) {
  return thread.times()[static_cast<std::size_t>(category)];
}

/// Time since the start of the simulation: where a thread is, and where a finished run ended.
inline Duration clock(const SimThread& thread) { return thread.now().since_start(); }
inline Duration clock(const Engine& engine) { return engine.now().since_start(); }

} // namespace contend::test
