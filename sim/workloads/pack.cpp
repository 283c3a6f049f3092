#include "workloads/pack.hpp"

#include <string>

namespace contend {

namespace {

constexpr int ready_tag = 0; ///< a helper tells the peer that it is about to wait
constexpr int done_tag = 1;  ///< the packer tells the peer that it is done
constexpr int end_tag = 2;   ///< the peer's messages to the helpers, one tag each, begin here

} // namespace

std::uint64_t Pack::planned_operations() const {
  constexpr std::int64_t smallest_task = 256; // a generous count of steps for tiny pieces
  return static_cast<std::uint64_t>(parameters_.warmup_iterations + parameters_.iterations) *
             static_cast<std::uint64_t>(1 + parameters_.message_size_bytes / smallest_task) +
         static_cast<std::uint64_t>(2 * parameters_.helpers + 1);
}

void Pack::start(World& world) {
  communicator_ = world.create_communicator(false);
  Process& process = world.process(0);
  Process& peer = world.process(1);
  threads_.push_back(&world.spawn(0, "packer", [this, &process](SimThread& self) { run_packer(self, process); }));
  for (int helper = 0; helper < parameters_.helpers; ++helper) {
    threads_.push_back(&world.spawn(0, "helper " + std::to_string(helper),
                                    [this, &process, helper](SimThread& self) { run_helper(self, process, helper); }));
  }
  threads_.push_back(&world.spawn(1, "peer", [this, &peer](SimThread& self) { run_peer(self, peer); }));
}

void Pack::run_packer(SimThread& self, Process& process) {
  if (parameters_.helpers > 0) {
    process.recv(self, communicator_, 1, ready_tag, 0); // all of them wait, or are about to
  }
  for (int iteration = 0; iteration < parameters_.warmup_iterations + parameters_.iterations; ++iteration) {
    if (iteration == parameters_.warmup_iterations) {
      for (SimThread* const thread : threads_) { // the others are in one call all the time
        thread->reset_times();
      }
      timed_start_ = self.now();
    }
    process.pack(self, parameters_.message_size_bytes, parameters_.block_bytes);
  }
  timed_end_ = self.now();
  process.send(self, communicator_, 1, done_tag, 0);
}

void Pack::run_helper(SimThread& self, Process& process, int number) {
  process.send(self, communicator_, 1, ready_tag, 0);
  process.recv(self, communicator_, 1, end_tag + number, 0);
  ++helped_;
}

void Pack::run_peer(SimThread& self, Process& process) const {
  for (int helper = 0; helper < parameters_.helpers; ++helper) {
    process.recv(self, communicator_, 0, ready_tag, 0);
  }
  if (parameters_.helpers > 0) {
    process.send(self, communicator_, 0, ready_tag, 0);
  }
  process.recv(self, communicator_, 0, done_tag, 0);
  for (int helper = 0; helper < parameters_.helpers; ++helper) {
    process.send(self, communicator_, 0, end_tag + helper, 0);
  }
}

WorkloadResult Pack::result(const World& /*world*/) const {
  if (helped_ != parameters_.helpers) {
    throw InvariantViolation("pack: " + std::to_string(helped_) + " of " + std::to_string(parameters_.helpers) +
                             " helpers have ended");
  }
  WorkloadResult result;
  result.operations = parameters_.iterations;
  result.bytes = result.operations * parameters_.message_size_bytes;
  result.elapsed = timed_end_ - timed_start_;
  result.measures = {{"time_per_operation_s", result.elapsed.in_seconds() / parameters_.iterations}};
  for (const SimThread* thread : threads_) {
    result.add(role_of_rank(thread->process()), *thread);
  }
  return result;
}

} // namespace contend
