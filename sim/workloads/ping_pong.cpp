#include "workloads/ping_pong.hpp"

#include <limits>
#include <string>

namespace contend {

std::uint64_t PingPong::planned_operations() const {
  constexpr std::uint64_t messages_per_round_trip = 6;
  return messages_per_round_trip * static_cast<std::uint64_t>(all_iterations());
}

void PingPong::start(World& world) {
  communicator_ = world.create_communicator(false);
  for (const int rank : {0, 1}) {
    Side& side = sides_[static_cast<std::size_t>(rank)];
    side.process = &world.process(rank);
    side.peer = 1 - rank;
    side.thread = &world.spawn(rank, "communication thread " + std::to_string(rank),
                               [this, rank](SimThread& self) { run(self, rank); });
  }
}

void PingPong::run(SimThread& self, int rank) {
  Side& side = sides_[static_cast<std::size_t>(rank)];
  Process& process = *side.process;
  side.requests.assign(place(slots), nullptr);
  if (parameters_.completion != "testsome") {
    side.sync = &process.sync_init(self);
  }
  const std::int64_t longest = parameters_.header_bytes + parameters_.short_limit_bytes;
  for (int i = 0; i < parameters_.persistent_receives; ++i) {
    const int tag = i < parameters_.persistent_receives / 2 ? activate_tag : get_tag;
    side.requests[static_cast<std::size_t>(i)] = process.recv_init(self, communicator_, any_source, tag, longest);
    start_receive(self, side, static_cast<std::size_t>(i));
  }
  process.barrier(self, communicator_);
  for (int iteration = 0; iteration < all_iterations(); ++iteration) {
    if (iteration == parameters_.warmup_iterations) {
      self.reset_times();
      timed_start_ = rank == 0 ? self.now() : timed_start_;
    }
    if (rank == 0) {
      send_hop(self, side);
    }
    receive_hop(self, side);
    if (rank != 0) {
      send_hop(self, side);
    }
  }
  timed_end_ = rank == 0 ? self.now() : timed_end_;
  for (const Slot slot : {data_receive, data_send}) {
    while (side.requests[place(slot)] != nullptr) {
      poll(self, side);
    }
  }
}

void PingPong::start_receive(SimThread& self, Side& side, std::size_t index) {
  side.process->start(self, *side.requests[index]);
  if (side.sync != nullptr) {
    side.process->sync_attach(self, *side.sync, *side.requests[index], index);
  }
}

/// Puts a request where poll() will find it complete.
void PingPong::track(SimThread& self, Side& side, Slot slot, Request* request) {
  side.requests[place(slot)] = request;
  if (request != nullptr && side.sync != nullptr) {
    side.process->sync_attach(self, *side.sync, *request, place(slot));
  }
}

/// One call that tells what is complete, and what comes of that. Returns how much was.
std::size_t PingPong::poll(SimThread& self, Side& side) {
  if (side.sync == nullptr) {
    const std::vector<int> indices = side.process->testsome(self, side.requests);
    for (const int index : indices) {
      completed(self, side, static_cast<std::size_t>(index));
    }
    return indices.size();
  }
  const std::size_t most = parameters_.completion == "sync-query" ? 1 : std::numeric_limits<std::size_t>::max();
  const std::vector<UserSync::Completion> completions = side.process->sync_query_bulk(self, *side.sync, most);
  for (const UserSync::Completion& completion : completions) {
    completed(self, side, completion.data);
  }
  return completions.size();
}

/// Polls until nothing is complete. Returns whether anything was.
bool PingPong::progress(SimThread& self, Side& side) {
  bool any = false;
  while (poll(self, side) > 0) {
    any = true;
  }
  return any;
}

/// A persistent receive is started again when its message has been dealt with.
void PingPong::completed(SimThread& self, Side& side, std::size_t index) {
  Process& process = *side.process;
  if (index >= place(data_receive)) {
    side.requests[index] = nullptr;
    if (index == place(data_receive)) {
      arrived(self, side);
    }
    return;
  }
  if (side.requests[index]->wanted_tag == get_tag) {
    track(self, side, data_send,
          process.isend(self, communicator_, side.peer, data_tag, parameters_.message_size_bytes));
    ++side.gets;
  } else if (data_apart()) {
    track(self, side, data_receive,
          process.irecv(self, communicator_, side.peer, data_tag, parameters_.message_size_bytes));
    process.send(self, communicator_, side.peer, get_tag, parameters_.header_bytes);
  } else {
    arrived(self, side);
  }
  start_receive(self, side, index);
}

/// The runtime is told.
void PingPong::arrived(SimThread& self, Side& side) {
  self.settle();
  side.arrived_at = self.now();
  ++side.arrivals;
}

void PingPong::send_hop(SimThread& self, Side& side) {
  while (side.requests[place(data_send)] != nullptr) {
    poll(self, side);
  }
  side.process->send(self, communicator_, side.peer, activate_tag,
                     parameters_.header_bytes + (data_apart() ? 0 : parameters_.message_size_bytes));
  if (data_apart()) {
    for (; side.gets == 0; poll(self, side)) {
    }
    --side.gets;
  }
}

/// The task that the data is for is another thread's; what it sends comes as a command, which is looked for when there is
/// nothing else to do.
void PingPong::receive_hop(SimThread& self, Side& side) {
  while (side.arrivals == 0 || self.now() < side.arrived_at + parameters_.runtime_work) {
    while (progress(self, side)) {
    }
  }
  --side.arrivals;
  ++side.hops;
}

WorkloadResult PingPong::result(const World& /*world*/) const {
  for (const Side& side : sides_) {
    if (side.hops != all_iterations()) {
      throw InvariantViolation("ping-pong: " + std::to_string(side.hops) + " of " + std::to_string(all_iterations()) +
                               " hops have arrived");
    }
  }
  WorkloadResult result;
  result.operations = 2 * std::int64_t{parameters_.iterations};
  result.bytes = result.operations * parameters_.message_size_bytes;
  result.elapsed = timed_end_ - timed_start_;
  result.measures = {{"time_per_operation_s", result.elapsed.in_seconds() / static_cast<double>(result.operations)}};
  for (std::size_t rank = 0; rank < sides_.size(); ++rank) {
    result.add(static_cast<Role>(rank), *sides_[rank].thread);
  }
  return result;
}

} // namespace contend
