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
  meet(self, side, thread);
  const int next = trip(self, side, thread, parameters_.warmup_iterations);
  enter_timed_part(self, side, thread, next);
  trip(self, side, next, all_iterations());
  side.barrier->wait(self);
  side.end = std::max(side.end, self.now());
}

/// A thread's round trips from `first` on, up to `end`; returns its next one.
int Latency::trip(SimThread& self, const Side& side, int first, int end) const {
  Process& process = *side.process;
  int i = first;
  for (; i < end; i += static_cast<int>(side.threads.size())) {
    if (sends_first(side)) {
      process.send(self, communicator_, side.peer, tag_of(i), parameters_.message_size_bytes);
      process.recv(self, communicator_, side.peer, answer_tag(tag_of(i)), parameters_.message_size_bytes);
    } else {
      process.send(self, communicator_, side.peer, answer_tag(receive(self, side, i)), parameters_.message_size_bytes);
    }
  }
  return i;
}

/// Waits for the message of a round trip, or for any that a wildcard lets in; returns its tag. Nothing else comes to
/// this process but messages of barriers, whose tags are negative and match no wildcard.
int Latency::receive(SimThread& self, const Side& side, int round_trip) const {
  Request* const request =
      side.process->irecv(self, communicator_, parameters_.any_source ? any_source : side.peer,
                          parameters_.any_tag ? any_tag : tag_of(round_trip), parameters_.message_size_bytes);
  Status status;
  side.process->waitall(self, {&request, 1}, {&status, 1});
  return status.tag;
}

/// The clock starts with the first timed round trip, or when the first thread of each process has met all others.
void Latency::enter_timed_part(SimThread& self, Side& side, int thread, int next) const {
  if (times_each_process()) {
    meet(self, side, thread);
  }
  self.reset_times();
  if (times_each_process() ? thread == 0 : next == parameters_.warmup_iterations) {
    side.start = self.now();
  }
}

int Latency::tag_of(int round_trip) const {
  constexpr int there = 1;
  return parameters_.senders > 1 ? round_trip : there;
}

/// Of the answer to a message. With several senders it says whose it is.
int Latency::answer_tag(int message_tag) const {
  constexpr int back = 2;
  return parameters_.senders > 1 ? message_tag : back;
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
  const Side& sender = sides_.front();
  const Side& receiver = sides_.back();
  result.elapsed = sender.end - sender.start;
  if (times_each_process()) {
    result.elapsed = std::max(result.elapsed, receiver.end - receiver.start);
  }
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
