// One point with idle polls skipped, and turn by turn.
#pragma once

#include "simulation/simulation.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <vector>

namespace contend::test {

struct Pair {
  PointResult turn_by_turn;
  PointResult coalesced;
};

inline Pair run_both(PointConfig point, int replication = 0) {
  SimulationOptions options;
  options.replication = replication;
  options.step_limit = 50'000'000;
  point.run.coalesce_idle_polls = false;
  Pair pair;
  pair.turn_by_turn = simulate(point, options);
  point.run.coalesce_idle_polls = true;
  pair.coalesced = simulate(point, options);
  return pair;
}

inline std::vector<std::int64_t> counters_of(const SpcCounters& counters) {
  return {counters.sent,
          counters.received,
          counters.posted,
          counters.out_of_sequence,
          counters.oos_in_queue,
          counters.oos_in_queue_max,
          counters.unexpected,
          counters.unexpected_in_queue,
          counters.unexpected_in_queue_max,
          counters.match_time.count(),
          counters.delayed_sends,
          counters.oos_ranges_visited};
}

inline bool equal(const Pair& pair) {
  return pair.turn_by_turn.workload.elapsed == pair.coalesced.workload.elapsed &&
         pair.turn_by_turn.workload.times == pair.coalesced.workload.times &&
         counters_of(pair.turn_by_turn.sender) == counters_of(pair.coalesced.sender) &&
         counters_of(pair.turn_by_turn.receiver) == counters_of(pair.coalesced.receiver);
}

/// `categories`: also where the time went.
inline void require_equal(const PointConfig& point, int replication = 0, bool categories = true) {
  const Pair pair = run_both(point, replication);
  CAPTURE(point.workload.multirate.pairs, point.workload.multirate.window, point.library.instances.count,
          point.library.instances.assignment, point.library.instances.lock, point.library.matching.lock,
          point.machine.nic.send_queue_depth, point.machine.nic.flow_control_window, replication);
  CHECK(pair.turn_by_turn.workload.elapsed.count() == pair.coalesced.workload.elapsed.count());
  CHECK(counters_of(pair.turn_by_turn.sender) == counters_of(pair.coalesced.sender));
  CHECK(counters_of(pair.turn_by_turn.receiver) == counters_of(pair.coalesced.receiver));
  if (categories) {
    CHECK(pair.turn_by_turn.workload.times == pair.coalesced.workload.times);
  }
  CHECK(pair.coalesced.steps <= pair.turn_by_turn.steps);
}

} // namespace contend::test
