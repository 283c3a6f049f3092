#include "workloads/multirate.hpp"

#include <algorithm>

namespace contend {

std::vector<int> Multirate::host_of_rank() const {
  std::vector<int> hosts(static_cast<std::size_t>(ranks(Role::sender)), sending_host);
  hosts.resize(hosts.size() + static_cast<std::size_t>(ranks(Role::receiver)), receiving_host);
  return hosts;
}

Role Multirate::role_of_rank(int rank) const { return rank < ranks(Role::sender) ? Role::sender : Role::receiver; }

std::uint64_t Multirate::planned_operations() const {
  return static_cast<std::uint64_t>(messages_per_iteration()) * static_cast<std::uint64_t>(iterations());
}

void Multirate::start(World& world) {
  world_communicator_ = world.create_communicator(parameters_.allow_overtaking);
  create_communicators(world);
  clocks_.assign(times_each_process() ? static_cast<std::size_t>(world.size()) : 1, {});
  for (int rank = 0; rank < world.size(); ++rank) {
    barriers_.push_back(std::make_unique<ThreadBarrier>(world.engine(), world.process(rank).host(),
                                                        threads_per_rank(role_of_rank(rank)),
                                                        world.process(rank).name() + "/thread barrier"));
  }
  for (const Role role : {Role::sender, Role::receiver}) {
    const bool sends = role == Role::sender;
    for (int number = 0; number < entities(role); ++number) {
      const int rank = rank_of(role, number);
      const Entity entity{role,
                          number,
                          rank,
                          threads(role) ? number : 0,
                          &world.process(rank),
                          barriers_[static_cast<std::size_t>(rank)].get()};
      SimThread& thread = world.spawn(rank, (sends ? "sender " : "receiver ") + std::to_string(number),
                                      [this, entity](SimThread& self) { run(self, entity); });
      threads_of_role_[static_cast<std::size_t>(role)].push_back(&thread);
    }
  }
}

void Multirate::meet_all(SimThread& self, const Entity& entity) const {
  entity.barrier->wait(self);
  if (entity.leads()) {
    entity.process->barrier(self, world_communicator());
  }
  entity.barrier->wait(self);
}

bool Multirate::meets_before_timing() const {
  return times_each_process() || (parameters_.pairwise() && !parameters_.barrier_every_iteration);
}

Multirate::Clock& Multirate::clock_of(const Entity& entity) {
  return clocks_[times_each_process() ? static_cast<std::size_t>(entity.rank) : 0];
}

void Multirate::begin_iteration(SimThread& self, const Entity& entity, int iteration) {
  if (iteration != parameters_.warmup_iterations) {
    return;
  }
  if (meets_before_timing()) {
    meet_all(self, entity);
  }
  self.reset_times();
  if (entity.leads() || !times_each_process()) {
    Clock& clock = clock_of(entity);
    clock.start = std::max(clock.start, self.now());
  }
  if (!times_each_process()) {
    starts_.push_back(self.now());
  }
}

void Multirate::end_iterations(SimThread& self, const Entity& entity) {
  ++finished_;
  Clock& clock = clock_of(entity);
  clock.end = std::max(clock.end, self.now());
}

bool Multirate::has_long_head_start(Duration elapsed) const {
  constexpr int much = 20; // 1 / 5 %
  Duration all{};
  for (const TimePoint start : starts_) {
    all += clocks_.front().start - start;
  }
  return all * much > elapsed * static_cast<std::int64_t>(starts_.size());
}

WorkloadResult Multirate::result(const World& world) const {
  const std::int64_t all = messages();
  std::int64_t received = 0;
  for (int rank = 0; rank < world.size(); ++rank) {
    if (role_of_rank(rank) == Role::receiver) {
      received += world.process(rank).counters().received;
    }
  }
  if (received != all || finished_ != entities(Role::sender) + entities(Role::receiver)) {
    throw InvariantViolation("Multirate received " + std::to_string(received) + " of " + std::to_string(all) +
                             " messages");
  }
  WorkloadResult result;
  result.operations = messages_per_iteration() * parameters_.iterations;
  result.bytes = result.operations * parameters_.message_size_bytes;
  for (const Clock& clock : clocks_) {
    result.elapsed = std::max(result.elapsed, clock.end - clock.start);
  }
  if (has_long_head_start(result.elapsed)) {
    result.notes.emplace_back("the rate is too high: when the clock started, with the last thread, the others had been "
                              "at work for more than a "
                              "twentieth of the timed part; more iterations (workload.iterations) bring it nearer");
  }
  for (const Role role : {Role::sender, Role::receiver}) {
    for (const SimThread* thread : threads_of_role_[static_cast<std::size_t>(role)]) {
      result.add(role, *thread);
    }
  }
  return result;
}

} // namespace contend
