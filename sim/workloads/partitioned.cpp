#include "workloads/partitioned.hpp"

#include <algorithm>
#include <string>

namespace contend {

std::uint64_t Partitioned::planned_operations() const {
  return static_cast<std::uint64_t>(parameters_.partitions) * static_cast<std::uint64_t>(all_iterations());
}

void Partitioned::start(World& world) {
  communicator_ = world.create_communicator(false);
  transfer_ = buffer_transfer_registry().at(parameters_.method)(
      {world,
       {communicator_, sending, receiving, 0, parameters_.partitions, parameters_.receive_partitions,
        parameters_.buffer_size_bytes}});
  Process& process = world.process(sending);
  const std::string fork = process.name() + "/fork";
  if (parameters_.fork == "sleep") {
    fork_asleep_ = std::make_unique<ThreadBarrier>(world.engine(), process.host(), parameters_.partitions, fork);
  } else {
    fork_ = std::make_unique<SpinBarrier>(world.engine(), process.host(), parameters_.partitions, fork);
  }
  join_ =
      std::make_unique<ThreadBarrier>(world.engine(), process.host(), parameters_.partitions, process.name() + "/join");
  for (int thread = 0; thread < parameters_.partitions; ++thread) {
    threads_.push_back(&world.spawn(sending, "sender " + std::to_string(thread),
                                    [this, &process, thread](SimThread& self) { run_sender(self, process, thread); }));
  }
  Process& other = world.process(receiving);
  receiver_ = &world.spawn(receiving, "receiver", [this, &other](SimThread& self) { run_receiver(self, other); });
}

void Partitioned::Times::add(Duration time) {
  ++count_;
  sum_ += time;
  if (keeps_all_) {
    all_.push_back(time);
  }
}

double Partitioned::Times::seconds() const {
  if (!keeps_all_ || all_.empty()) {
    return sum_.in_seconds() / static_cast<double>(count_);
  }
  std::vector<Duration> sorted = all_;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  const Duration above = sorted[middle];
  const Duration below = sorted.size() % 2 == 1 ? above : sorted[middle - 1];
  return (below.in_seconds() + above.in_seconds()) / 2;
}

void Partitioned::wait_for_fork(SimThread& self) {
  if (fork_asleep_) {
    fork_asleep_->wait(self);
  } else {
    fork_->wait(self);
  }
}

void Partitioned::compute(SimThread& self, RandomStream& jitter, int thread, int iteration) const {
  const bool late = thread == iteration % parameters_.partitions;
  Duration time = parameters_.compute_time.scaled(late ? 1 + parameters_.noise_pct / 100 : 1);
  if (parameters_.compute_jitter > Duration{}) {
    time += jitter.exponential(parameters_.compute_jitter);
  }
  if (parameters_.compute_until == "clock" && time > Duration{}) {
    // It spins, so that others can be given its core, and goes on once it has one.
    self.settle();
    self.resume_at(self.now() + time);
    self.wait(date_, Category::compute);
  } else {
    self.spend_time(time, Category::compute);
  }
}

void Partitioned::run_sender(SimThread& self, Process& process, int thread) {
  SendSide& side = transfer_->sender();
  const bool leads = thread == 0;
  RandomStream jitter = self.engine().stream("jitter of sender " + std::to_string(thread));
  if (leads) {
    side.init(self);
  }
  for (int iteration = 0; iteration < all_iterations(); ++iteration) {
    if (leads) {
      process.barrier(self, communicator_); // the receiver has started, or starts
      side.start(self);
    }
    wait_for_fork(self);
    if (iteration == parameters_.warmup_iterations) {
      self.reset_times();
      timed_start_ = std::max(timed_start_, self.now());
    }
    compute(self, jitter, thread, iteration);
    computed_ = self.now(); // the last one's stays
    side.ready(self, thread);
    join_->wait(self);
    if (leads) {
      finish_send(self, iteration);
    }
  }
  if (leads) {
    side.free(self);
  }
}

void Partitioned::finish_send(SimThread& self, int iteration) {
  transfer_->sender().wait(self);
  self.settle();
  if (timed(iteration)) {
    perceived_.add(self.now() - computed_);
  }
  timed_end_ = std::max(timed_end_, self.now());
}

void Partitioned::run_receiver(SimThread& self, Process& process) {
  ReceiveSide& side = transfer_->receiver();
  side.init(self);
  for (int iteration = 0; iteration < all_iterations(); ++iteration) {
    if (parameters_.receiver_starts == "before") {
      side.start(self);
      process.barrier(self, communicator_);
    } else {
      process.barrier(self, communicator_);
      side.start(self);
    }
    if (iteration == parameters_.warmup_iterations) {
      self.reset_times();
    }
    finish_receive(self, iteration);
    ++received_;
  }
  side.free(self);
}

void Partitioned::finish_receive(SimThread& self, int iteration) {
  ReceiveSide& side = transfer_->receiver();
  TimePoint first;
  if (parameters_.receiver_polls) {
    side.poll_until_any(self);
    self.settle();
    first = self.now();
  }
  side.wait(self);
  self.settle();
  if (timed(iteration)) {
    communication_.add(self.now() - computed_);
    if (parameters_.receiver_polls) {
      extra_compute_.add(self.now() - first);
    }
    timed_end_ = std::max(timed_end_, self.now());
  }
}

WorkloadResult Partitioned::result(const World& /*world*/) const {
  if (received_ != all_iterations()) {
    throw InvariantViolation("the receiver has " + std::to_string(received_) + " of " +
                             std::to_string(all_iterations()) + " buffers");
  }
  transfer_->check(all_iterations());
  const std::int64_t iterations = parameters_.iterations;
  WorkloadResult result;
  result.operations = parameters_.partitions * iterations;
  result.bytes = parameters_.buffer_size_bytes * iterations;
  result.elapsed = timed_end_ - timed_start_;
  for (const SimThread* thread : threads_) {
    result.add(Role::sender, *thread);
  }
  result.add(Role::receiver, *receiver_);
  constexpr double mebibyte = 1024.0 * 1024.0;
  result.measures = {
      {"perceived_bandwidth", static_cast<double>(parameters_.buffer_size_bytes) / mebibyte / perceived_.seconds()},
      {"communication_time_s", communication_.seconds()},
  };
  if (parameters_.receiver_polls) {
    result.measures.emplace_back("extra_compute_time_s", extra_compute_.seconds());
  }
  return result;
}

} // namespace contend
