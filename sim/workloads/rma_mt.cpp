#include "workloads/rma_mt.hpp"

#include <algorithm>
#include <string>

namespace contend {

std::uint64_t RmaMt::planned_operations() const {
  return static_cast<std::uint64_t>(parameters_.threads) * static_cast<std::uint64_t>(parameters_.operations) *
         static_cast<std::uint64_t>(all_iterations());
}

void RmaMt::start(World& world) {
  communicator_ = world.create_communicator(false);
  for (int thread = 0; thread < parameters_.threads; ++thread) {
    window_of_thread_.push_back(thread == 0 || parameters_.window_per_thread ? world.create_window(communicator_)
                                                                             : window_of_thread_.front());
  }
  Process& process = world.process(origin);
  barrier_ = std::make_unique<SpinBarrier>(world.engine(), process.host(), parameters_.threads,
                                           process.name() + "/thread barrier");
  sleeping_barrier_ = std::make_unique<ThreadBarrier>(world.engine(), process.host(), parameters_.threads,
                                                      process.name() + "/sleeping thread barrier");
  for (int thread = 0; thread < parameters_.threads; ++thread) {
    origin_threads_.push_back(
        &world.spawn(origin, "origin " + std::to_string(thread),
                     [this, &process, thread](SimThread& self) { run_origin(self, process, thread); }));
  }
  Process& other = world.process(target);
  target_thread_ = &world.spawn(target, "target", [this, &other](SimThread& self) { run_target(self, other); });
}

/// The timed part begins when the last thread enters it, or the first thread of all, and ends when the last thread leaves its
/// last iteration.
void RmaMt::note_progress(SimThread& self, int iteration) {
  if (iteration == parameters_.warmup_iterations) {
    self.reset_times();
    if (++entered_ == parameters_.threads) {
      target_thread_->reset_times(); // it is in one call for as long as it has nothing to do with operations
    }
    if (!times_first_thread() || &self == origin_threads_.front()) {
      timed_start_ = std::max(timed_start_, self.now());
    }
  } else if (iteration == all_iterations()) {
    ++finished_;
    timed_end_ = std::max(timed_end_, self.now());
  }
}

/// The threads of the origin.
void RmaMt::meet(SimThread& self) {
  if (times_first_thread()) {
    sleeping_barrier_->wait(self);
  } else {
    barrier_->wait(self);
  }
}

/// As contend-rma does before each of its repetitions.
void RmaMt::meet_before_timing(SimThread& self, Process& process, int thread) {
  meet(self);
  if (thread == 0) {
    process.barrier(self, communicator_);
  }
  meet(self);
}

void RmaMt::run_origin(SimThread& self, Process& process, int thread) {
  Window& window = process.window(window_of_thread_[static_cast<std::size_t>(thread)]);
  const bool leads = thread == 0 || parameters_.window_per_thread; // of the threads that share its window
  if (leads && flushes()) {
    window.lock(self, target, WindowLock::shared);
  }
  if (runs_free()) {
    meet(self); // the window is locked
  }
  for (int iteration = 0; iteration < all_iterations(); ++iteration) {
    if (times_first_thread() && iteration == parameters_.warmup_iterations) {
      meet_before_timing(self, process, thread);
    }
    runs_free() ? iterate(self, window, iteration) : iterate_together(self, window, iteration, leads);
  }
  note_progress(self, all_iterations());
  if (runs_free()) {
    meet(self); // all have flushed
  }
  if (leads && flushes()) {
    window.unlock(self, target);
  }
  meet(self);
  if (thread == 0) {
    process.barrier(self, communicator_);
  }
}

void RmaMt::iterate(SimThread& self, Window& window, int iteration) {
  note_progress(self, iteration);
  operate(self, window);
  flush(self, window);
}

void RmaMt::iterate_together(SimThread& self, Window& window, int iteration, bool leads) {
  meet(self);
  note_progress(self, iteration);
  if (leads) {
    open_epoch(self, window);
  }
  meet(self);
  operate(self, window);
  if (each_flushes()) {
    flush(self, window);
  }
  meet(self);
  if (leads && !each_flushes()) {
    close_epoch(self, window);
  }
  meet(self);
}

/// What the target does for operations it does while it waits; only a fence needs a call of it.
void RmaMt::run_target(SimThread& self, Process& process) const {
  for (int iteration = 0; iteration < all_iterations(); ++iteration) {
    if (times_first_thread() && iteration == parameters_.warmup_iterations) {
      process.barrier(self, communicator_);
    }
    if (!fences()) {
      continue;
    }
    open_epoch(self, process.window(window_of_thread_.front()));
    close_epoch(self, process.window(window_of_thread_.front()));
  }
  process.barrier(self, communicator_);
}

void RmaMt::operate(SimThread& self, Window& window) const {
  for (int i = 0; i < parameters_.operations; ++i) {
    if (parameters_.operation == "put") {
      window.put(self, target, parameters_.message_size_bytes);
    } else if (parameters_.operation == "get") {
      window.get(self, target, parameters_.message_size_bytes);
    } else if (parameters_.operation == "accumulate") {
      window.accumulate(self, target, parameters_.message_size_bytes);
    } else {
      window.fetch_and_op(self, target, parameters_.message_size_bytes);
    }
  }
}

void RmaMt::open_epoch(SimThread& self, Window& window) const {
  if (fences()) {
    window.fence(self);
  } else if (parameters_.synchronisation == "lock") {
    window.lock(self, target, WindowLock::shared);
  } else if (parameters_.synchronisation == "lock-all") {
    window.lock_all(self);
  }
}

void RmaMt::close_epoch(SimThread& self, Window& window) const {
  if (fences()) {
    window.fence(self);
  } else if (parameters_.synchronisation == "lock") {
    window.unlock(self, target);
  } else if (parameters_.synchronisation == "lock-all") {
    window.unlock_all(self);
  } else {
    flush(self, window);
  }
}

void RmaMt::flush(SimThread& self, Window& window) const {
  if (parameters_.synchronisation == "flush-all") {
    window.flush_all(self);
  } else if (parameters_.synchronisation == "flush-local") {
    window.flush_local(self, target);
  } else {
    window.flush(self, target);
  }
}

WorkloadResult RmaMt::result(const World& world) const {
  const Process& process = world.process(origin);
  const SpcCounters& counters = process.counters();
  const auto all = static_cast<std::int64_t>(planned_operations());
  const std::int64_t called = counters.puts + counters.gets + counters.accumulates + counters.fetch_and_ops;
  if (called != all || finished_ != parameters_.threads) {
    throw InvariantViolation("RMA-MT called " + std::to_string(called) + " of " + std::to_string(all) + " operations");
  }
  for (const int window : window_of_thread_) {
    if (const std::int64_t left = process.window(window).outstanding(target); left != 0) {
      throw InvariantViolation("RMA-MT ended with " + std::to_string(left) + " operations outstanding");
    }
  }
  WorkloadResult result;
  result.operations = std::int64_t{parameters_.threads} * parameters_.operations * parameters_.iterations;
  result.bytes = result.operations * parameters_.message_size_bytes;
  result.elapsed = timed_end_ - timed_start_;
  for (const SimThread* thread : origin_threads_) {
    result.add(Role::sender, *thread);
  }
  result.add(Role::receiver, *target_thread_);
  return result;
}

} // namespace contend
