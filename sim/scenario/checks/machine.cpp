// What is wrong with a machine, whatever runs on it.
#include "scenario/checks/check.hpp"
#include "scenario/units.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace contend::scenario {

namespace {

/// The most that Host can hold.
constexpr std::int64_t most_hardware_threads = 512;

Problem too_many_hardware_threads(const PointConfig& point) {
  const TopologyParameters& topology = point.machine.topology;
  const std::int64_t threads = std::int64_t{topology.sockets} * topology.cores_per_socket * topology.threads_per_core;
  if (threads <= most_hardware_threads)
    return {};
  return number(threads) + " hardware threads on one host (" + layout_of(topology) + "); at most " +
         number(most_hardware_threads) + " are supported";
}

Problem slices_reversed(const PointConfig& point) {
  const SchedulerParameters& scheduler = point.machine.scheduler;
  if (scheduler.policy != "cfs" || scheduler.latency == Duration{} || scheduler.slice <= scheduler.latency)
    return {};
  return "the shortest slice " + format_time(scheduler.slice) +
         " is above the time in which every thread has a turn, " + format_time(scheduler.latency);
}

/// With less between two interrupts than one takes nothing else would run.
Problem ticks_take_all(const PointConfig& point) {
  const SchedulerParameters& scheduler = point.machine.scheduler;
  if (scheduler.tick == Duration{} || scheduler.tick_cost * 2 <= scheduler.tick)
    return {};
  return "an interrupt of " + format_time(scheduler.tick_cost) + " every " + format_time(scheduler.tick) +
         " leaves less than half of the time to threads";
}

Problem backoff_reversed(const PointConfig& point) {
  const LockParameters& locks = point.machine.locks;
  if (locks.backoff_minimum <= locks.backoff_maximum)
    return {};
  return "the least back-off " + format_time(locks.backoff_minimum) + " is above the greatest " +
         format_time(locks.backoff_maximum);
}

Problem idle_states_reversed(const PointConfig& point) {
  const FutexParameters& futex = point.machine.futex;
  if (futex.deep_after > Duration{} && futex.shallow_latency > futex.wake_latency)
    return "waking up from a shallow idle state, " + format_time(futex.shallow_latency) +
           ", takes longer than from a deep one, " + format_time(futex.wake_latency);
  if (futex.deep_after == Duration{} && futex.shallow_latency > Duration{})
    return "no sleep is short enough for a shallow idle state; give machine.futex.deep_after";
  return {};
}

/// What moves a bucket is on top of what a call in vain takes alone.
Problem bucket_without_calls(const PointConfig& point) {
  const FutexParameters& futex = point.machine.futex;
  if (futex.vain_call > Duration{} || (futex.bucket_move == Duration{} && futex.bucket_turn == Duration{}))
    return {};
  return "machine.futex.bucket_move and bucket_turn say how calls hold each other up, which needs what one takes "
         "alone: "
         "give machine.futex.vain_call";
}

Problem clusters_do_not_divide(const PointConfig& point) {
  const TopologyParameters& topology = point.machine.topology;
  const int cluster = topology.cores_per_cluster;
  if (cluster == 0 || topology.cores_per_socket % cluster == 0)
    return {};
  return "a socket of " + number(topology.cores_per_socket) + " cores has no whole number of clusters of " +
         number(cluster);
}

Problem clusters_without_price(const PointConfig& point) {
  if (point.machine.topology.cores_per_cluster == 0 || point.machine.cache.transfer_cluster > Duration{})
    return {};
  return "cores share clusters of " + number(point.machine.topology.cores_per_cluster) +
         ", so a transfer between cores of a cluster must have a price";
}

Problem retries_without_home(const PointConfig& point) {
  const CacheParameters& cache = point.machine.cache;
  if (!cache.conflict_retry || cache.home_order)
    return {};
  return "requests are turned back at a line's home, which needs machine.cache.home_order true";
}

Problem serial_snoops_without_home(const PointConfig& point) {
  const CacheParameters& cache = point.machine.cache;
  if (!cache.serial_snoops || cache.home_order)
    return {};
  return "reads wait for each other at a line's home, which needs machine.cache.home_order true";
}

Problem line_locked_by_load_linked(const PointConfig& point) {
  const CacheParameters& cache = point.machine.cache;
  if (cache.lock_latency == Duration{} || !cache.load_linked)
    return {};
  return "pairs of load-exclusive and store-exclusive lock no line: remove it, or machine.cache.load_linked";
}

Problem line_locked_after_the_end(const PointConfig& point) {
  const CacheParameters& cache = point.machine.cache;
  if (cache.lock_latency <= cache.atomic_hit)
    return {};
  return "a locked instruction would have the line after its end: at most machine.cache.atomic_hit";
}

Problem store_buffer_without_home(const PointConfig& point) {
  const CacheParameters& cache = point.machine.cache;
  if (!cache.store_buffer || cache.home_order)
    return {};
  return "stores leave a store buffer in the order of a line's home, which needs machine.cache.home_order true";
}

Problem machine_without_transport(const PointConfig& point) {
  const std::string& kind = point.library.transport.kind;
  const bool given = kind == "tcp"             ? point.machine.tcp.given()
                     : kind == "shared-memory" ? point.machine.shared_memory.given()
                                               : true;
  if (given)
    return {};
  return "the transport \"" + kind + "\" needs prices that the machine does not give: machine." +
         (kind == "tcp" ? "tcp" : "shared_memory");
}

/// What never has room waits for ever: messages up to the limit, and pointers where they go through the box.
Problem box_too_small(const PointConfig& point) {
  const SharedMemoryParameters& memory = point.machine.shared_memory;
  const std::int64_t largest = memory.box_entry(std::max(memory.box_bytes, SharedMemoryParameters::pointer_bytes));
  if (memory.box_size == 0 || largest <= memory.box_room())
    return {};
  return "the largest message of a fast box takes " + format_size(largest) + " of it, of a box of " +
         format_size(memory.box_size) + " there are " + format_size(std::max<std::int64_t>(memory.box_room(), 0)) +
         " for entries";
}

} // namespace

std::span<const Check> machine_checks() {
  static constexpr std::array checks{Check{"machine.topology.cores_per_socket", too_many_hardware_threads},
                                     Check{"machine.scheduler.slice", slices_reversed},
                                     Check{"machine.scheduler.tick_cost", ticks_take_all},
                                     Check{"library.transport.kind", machine_without_transport},
                                     Check{"machine.shared_memory.box_limit", box_too_small},
                                     Check{"machine.topology.cores_per_cluster", clusters_do_not_divide},
                                     Check{"machine.cache.transfer_cluster", clusters_without_price},
                                     Check{"machine.cache.conflict_retry", retries_without_home},
                                     Check{"machine.cache.serial_snoops", serial_snoops_without_home},
                                     Check{"machine.cache.lock_latency", line_locked_by_load_linked},
                                     Check{"machine.cache.lock_latency", line_locked_after_the_end},
                                     Check{"machine.cache.store_buffer", store_buffer_without_home},
                                     Check{"machine.futex.shallow_latency", idle_states_reversed},
                                     Check{"machine.futex.vain_call", bucket_without_calls},
                                     Check{"machine.locks.backoff_minimum", backoff_reversed}};
  return checks;
}

} // namespace contend::scenario
