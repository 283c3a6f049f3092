#include "workloads/latency.hpp"

#include <algorithm>
#include <string>

namespace contend {

std::uint64_t Latency::planned_operations() const { return 2 * static_cast<std::uint64_t>(all_iterations()); }

void Latency::start(World& world) {
  communicator_ = world.create_communicator(false);
  spawn(world, 0, parameters_.senders);
  spawn(world, 1, parameters_.receivers);
}

void Latency::spawn(World& world, int rank, int threads) {
  Side& side = sides_[static_cast<std::size_t>(rank)];
  side.process = &world.process(rank);
  side.peer = 1 - rank;
  side.barrier = std::make_unique<ThreadBarrier>(world.engine(), side.process->host(), threads,
                                                 side.process->name() + "/thread barrier");
  for (int thread = 0; thread < threads; ++thread) {
    side.threads.push_back(&world.spawn(rank, (rank == 0 ? "sender " : "receiver ") + std::to_string(thread),
                                        [this, &side, thread](SimThread& self) { run(self, side, thread); }));
  }
}

/// All threads of both processes: the threads of each, and one of each for all.
void Latency::meet(SimThread& self, Side& side, int thread) const {
  side.barrier->wait(self);
  if (thread == 0) {
    side.process->barrier(self, communicator_);
  }
  side.barrier->wait(self);
}

void Latency::run(SimThread& self, Side& side, int thread) {
  Process& process = *side.process;
  const auto threads = static_cast<int>(side.threads.size());
  meet(self, side, thread);
  bool timed = false;
  for (int i = thread; i < all_iterations(); i += threads) {
    if (!timed && i >= parameters_.warmup_iterations) {
      timed = true;
      enter_timed_part(self, side, i);
    }
    if (sends_first(side)) {
      process.send(self, communicator_, side.peer, tag_of(i, false), parameters_.message_size_bytes);
      process.recv(self, communicator_, side.peer, tag_of(i, true), parameters_.message_size_bytes);
    } else {
      process.recv(self, communicator_, side.peer, tag_of(i, false), parameters_.message_size_bytes);
      process.send(self, communicator_, side.peer, tag_of(i, true), parameters_.message_size_bytes);
    }
  }
  if (!timed) {
    self.reset_times(); // it has no part in the timed round trips
  }
  side.barrier->wait(self);
  if (sends_first(side)) {
    timed_end_ = std::max(timed_end_, self.now());
  }
}

/// The clock is of the thread that has the first timed round trip.
void Latency::enter_timed_part(SimThread& self, const Side& side, int round_trip) {
  self.reset_times();
  if (sends_first(side) && round_trip == parameters_.warmup_iterations) {
    timed_start_ = self.now();
  }
}

int Latency::tag_of(int round_trip, bool is_answer) const {
  constexpr int there = 1;
  constexpr int back = 2;
  return parameters_.senders > 1 ? round_trip : is_answer ? back : there;
}

WorkloadResult Latency::result(const World& world) const {
  for (int rank = 0; rank < world.size(); ++rank) {
    const std::int64_t received = world.process(rank).counters().received;
    if (received != all_iterations()) {
      throw InvariantViolation("latency: process " + std::to_string(rank) + " received " + std::to_string(received) +
                               " of " + std::to_string(all_iterations()) + " messages");
    }
  }
  WorkloadResult result;
  result.operations = 2 * std::int64_t{parameters_.iterations};
  result.bytes = result.operations * parameters_.message_size_bytes;
  result.elapsed = timed_end_ - timed_start_;
  result.measures = {
      {"latency", result.elapsed.in_seconds() * parameters_.senders / static_cast<double>(result.operations)}};
  for (const Side& side : sides_) {
    for (const SimThread* thread : side.threads) {
      result.add(role_of_rank(sends_first(side) ? 0 : 1), *thread);
    }
  }
  return result;
}

} // namespace contend
