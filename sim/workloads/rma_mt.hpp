// RMA-MT: the threads of an origin process work on the memory of a target process (loop of the published benchmark).
#pragma once

#include "workloads/spin_barrier.hpp"
#include "workloads/thread_barrier.hpp"
#include "workloads/workload.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace contend {

class RmaMt final : public Workload {
public:
  explicit RmaMt(RmaMtParameters parameters) : parameters_(std::move(parameters)) {}

  [[nodiscard]] std::vector<int> host_of_rank() const override { return {origin, target}; }
  [[nodiscard]] Role role_of_rank(int rank) const override { return rank == origin ? Role::sender : Role::receiver; }
  [[nodiscard]] std::uint64_t planned_operations() const override;
  void start(World& world) override;
  [[nodiscard]] WorkloadResult result(const World& world) const override;

private:
  static constexpr int origin = 0;
  static constexpr int target = 1;

  void run_origin(SimThread& self, Process& process, int thread);
  void run_target(SimThread& self, Process& process) const;
  void operate(SimThread& self, Window& window) const;
  void open_epoch(SimThread& self, Window& window) const;
  void close_epoch(SimThread& self, Window& window) const;
  void flush(SimThread& self, Window& window) const;
  void note_progress(SimThread& self, int iteration);
  void meet(SimThread& self);
  void iterate(SimThread& self, Window& window, int iteration);
  void iterate_together(SimThread& self, Window& window, int iteration, bool leads);
  void meet_before_timing(SimThread& self, Process& process, int thread);

  /// Whether threads flush inside one lock; else each iteration is an epoch of its own.
  [[nodiscard]] bool flushes() const { return parameters_.synchronisation.rfind("flush", 0) == 0; }
  /// Whether every thread completes its own operations.
  [[nodiscard]] bool each_flushes() const { return flushes() && parameters_.synchronised_by == "every-thread"; }
  /// Whether threads go from one iteration to the next without meeting.
  [[nodiscard]] bool runs_free() const { return times_first_thread() && each_flushes(); }
  [[nodiscard]] bool times_first_thread() const { return parameters_.timing == "first-thread"; }
  [[nodiscard]] bool fences() const { return parameters_.synchronisation == "fence"; }
  [[nodiscard]] int all_iterations() const { return parameters_.warmup_iterations + parameters_.iterations; }

  RmaMtParameters parameters_;
  int communicator_ = 0;
  std::vector<int> window_of_thread_;
  std::unique_ptr<SpinBarrier> barrier_;
  std::unique_ptr<ThreadBarrier> sleeping_barrier_; ///< pthread_barrier_t, which contend-rma has
  std::vector<SimThread*> origin_threads_;
  SimThread* target_thread_ = nullptr;
  int entered_ = 0; ///< threads that have entered the timed part
  int finished_ = 0;
  TimePoint timed_start_;
  TimePoint timed_end_;
};

} // namespace contend
