// A whole simulation seen from outside: like simulate(), but with every step and every thread's accounts.
#pragma once

#include "core/step_hash.hpp"
#include "mpi/world.hpp"
#include "point.hpp"
#include "workloads/workload.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace contend::test {

/// Checks that time never goes back, and remembers each target's last step.
class Watcher final : public StepObserver {
public:
  void step(TimePoint time, TargetSlot slot) override {
    monotone = monotone && time >= last_;
    last_ = time;
    last_step_[slot] = time;
    hash_.step(time, slot);
  }
  [[nodiscard]] TimePoint last_step_of(TargetSlot slot) const { return last_step_.at(slot); }
  [[nodiscard]] std::uint64_t hash() const { return hash_.value(); }
  bool monotone = true;

private:
  TimePoint last_;
  StepHash hash_;
  std::unordered_map<TargetSlot, TimePoint> last_step_;
};

/// When the accounts of each thread started afresh: a thread that has to wait for its core begins later than the run.
class Restarts final : public TraceSink {
public:
  void span(const SimThread& /*thread*/, Category /*category*/, TimePoint /*begin*/, TimePoint /*end*/) override {}
  void restart(const SimThread& thread, TimePoint time) override { at_[thread.id()] = time; }
  [[nodiscard]] TimePoint of(const SimThread& thread) const {
    const auto found = at_.find(thread.id());
    return found == at_.end() ? TimePoint() : found->second;
  }

private:
  std::unordered_map<int, TimePoint> at_;
};

struct Observation {
  WorkloadResult result;
  std::vector<SpcCounters> counters; ///< by rank
  bool monotone = false;
  bool accounts_add_up = false; ///< from the start of the timed part
  std::uint64_t hash = 0;
  std::uint64_t steps = 0;
};

/// What all ranks have counted.
struct Totals {
  explicit Totals(const Observation& run) {
    for (const SpcCounters& rank : run.counters) {
      sent += rank.sent;
      posted += rank.posted;
      received += rank.received;
      left_in_queues += rank.oos_in_queue + rank.unexpected_in_queue;
    }
  }

  std::int64_t sent = 0;
  std::int64_t posted = 0;
  std::int64_t received = 0;
  std::int64_t left_in_queues = 0; ///< at the end: early and unexpected messages
};

/// Throws what the run throws.
inline Observation observe(const PointConfig& point, std::uint64_t seed, std::uint64_t step_limit = 20'000'000) {
  Engine engine(seed);
  Watcher watcher;
  engine.set_observer(&watcher);
  Restarts restarts;
  engine.set_trace(&restarts);
  engine.set_step_limit(step_limit);
  World world(engine,
              {point.library, point.machine.software, point.machine.locks, point.machine.matching, point.machine.rdma,
               point.machine.noise, point.run.coalesce_idle_polls, point.machine.waiting, point.machine.datatype},
              point.placement);
  const std::unique_ptr<Workload> workload = workload_registry().at(point.workload.kind)(point.workload);
  const std::vector<int> host_of_rank = workload->host_of_rank();
  for (int host = 0; host <= *std::max_element(host_of_rank.begin(), host_of_rank.end()); ++host) {
    world.add_host(point.machine.topology, point.machine.cache, point.machine.futex, point.machine.nic, point.route,
                   point.machine.scheduler, point.machine.tcp, point.machine.shared_memory);
  }
  world.add_processes(host_of_rank);
  struct Abandon { // stacks of threads refer to the world and the workload
    Engine& engine;
    ~Abandon() { engine.abandon(); }
  } abandon{engine};
  workload->start(world);
  engine.run();

  Observation observation;
  observation.result = workload->result(world);
  for (int rank = 0; rank < world.size(); ++rank) {
    observation.counters.push_back(world.process(rank).counters());
  }
  observation.monotone = watcher.monotone;
  observation.accounts_add_up = true;
  for (const auto& thread : engine.threads()) {
    if (thread->daemon()) {
      continue; // stopped in the middle of what it did
    }
    Duration sum;
    for (const Duration time : thread->times()) {
      sum += time;
      observation.accounts_add_up = observation.accounts_add_up && time >= Duration{};
    }
    const TimePoint end = watcher.last_step_of(engine.slot_of(*thread));
    observation.accounts_add_up = observation.accounts_add_up && sum == end - restarts.of(*thread);
  }
  observation.hash = watcher.hash();
  observation.steps = engine.steps();
  return observation;
}

} // namespace contend::test
