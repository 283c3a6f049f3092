// Threads of one process compute, each fills its part of a buffer, and the buffer goes to a process on another host.
#pragma once

#include "core/random.hpp"
#include "workloads/spin_barrier.hpp"
#include "workloads/thread_barrier.hpp"
#include "workloads/transfers/transfer.hpp"
#include "workloads/workload.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace contend {

/// An iteration: both processes meet; the sending threads compute, one of them longer than the others; each hands its
/// partition over; they join; the first one waits for the end. The receiver waits for all, or looks for the first partition
/// and then waits. What handing over means is the transfer's (buffer_transfer_registry). The loop is that of the benchmark of
/// Dosanjh et al., Parallel Computing 108, 2021.
///
/// Measures: perceived_bandwidth (MiB/s): the buffer over the time from the end of the last thread's computation to the end
/// of the sender's wait; communication_time_s: from there (the last Pready) to the end of the receiver's wait;
/// extra_compute_time_s, if the receiver looks: from the first partition to the end of its wait. Times are means, or
/// medians, over iterations.
class Partitioned final : public Workload {
public:
  explicit Partitioned(PartitionedParameters parameters)
      : parameters_(std::move(parameters)), perceived_(takes_median()), communication_(takes_median()),
        extra_compute_(takes_median()) {}

  [[nodiscard]] std::vector<int> host_of_rank() const override { return {sending, receiving}; }
  [[nodiscard]] Role role_of_rank(int rank) const override { return rank == sending ? Role::sender : Role::receiver; }
  [[nodiscard]] std::uint64_t planned_operations() const override;
  void start(World& world) override;
  [[nodiscard]] WorkloadResult result(const World& world) const override;

private:
  static constexpr int sending = 0;   ///< rank, and host
  static constexpr int receiving = 1; ///< rank, and host

  /// What a thread that computes until a date waits for.
  struct Date final : Waitable {
    [[nodiscard]] std::string describe() const override { return "the end of its computation"; }
  };

  /// Times of the timed iterations.
  class Times {
  public:
    explicit Times(bool keeps_all) : keeps_all_(keeps_all) {}
    void add(Duration time);
    /// Their mean, or median where all are kept.
    [[nodiscard]] double seconds() const;

  private:
    bool keeps_all_;
    std::int64_t count_ = 0;
    Duration sum_{};
    std::vector<Duration> all_;
  };

  void run_sender(SimThread& self, Process& process, int thread);
  void run_receiver(SimThread& self, Process& process);
  void compute(SimThread& self, RandomStream& jitter, int thread, int iteration) const;
  /// The first thread has begun an iteration.
  void wait_for_fork(SimThread& self);
  void finish_send(SimThread& self, int iteration);
  void finish_receive(SimThread& self, int iteration);

  [[nodiscard]] bool takes_median() const { return parameters_.statistic == "median"; }
  [[nodiscard]] bool timed(int iteration) const { return iteration >= parameters_.warmup_iterations; }
  [[nodiscard]] int all_iterations() const { return parameters_.warmup_iterations + parameters_.iterations; }

  PartitionedParameters parameters_;
  int communicator_ = 0;
  std::unique_ptr<BufferTransfer> transfer_;
  Date date_;
  std::unique_ptr<SpinBarrier> fork_;          ///< of the sending threads: they are at it already
  std::unique_ptr<ThreadBarrier> fork_asleep_; ///< the same where they sleep
  std::unique_ptr<ThreadBarrier> join_;        ///< of the sending threads: they wait long, and sleep
  std::vector<SimThread*> threads_;            ///< sending ones
  SimThread* receiver_ = nullptr;
  TimePoint computed_; ///< when the last thread of this iteration had computed
  Times perceived_;
  Times communication_;
  Times extra_compute_;
  std::int64_t received_ = 0; ///< buffers
  TimePoint timed_start_;
  TimePoint timed_end_;
};

} // namespace contend
