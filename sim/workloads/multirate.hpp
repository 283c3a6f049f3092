// Multirate, pairwise: sender i streams windows of messages to receiver i (loop of the published benchmark).
#pragma once

#include "workloads/thread_barrier.hpp"
#include "workloads/workload.hpp"

#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace contend {

class MultiratePairwise final : public Workload {
public:
  explicit MultiratePairwise(MultirateParameters parameters) : parameters_(std::move(parameters)) {}

  [[nodiscard]] std::vector<int> host_of_rank() const override;
  [[nodiscard]] Role role_of_rank(int rank) const override;
  [[nodiscard]] std::uint64_t planned_operations() const override;
  void start(World& world) override;
  [[nodiscard]] WorkloadResult result(const World& world) const override;

private:
  static constexpr int sending_host = 0;
  static constexpr int receiving_host = 1;

  /// One thread's part in one process.
  struct Entity {
    int pair;
    int rank;
    int peer;
    int communicator;
    ThreadBarrier* barrier; ///< of the threads of this process
    bool leader;            ///< calls MPI_Barrier for its process
  };

  [[nodiscard]] bool threads() const { return parameters_.mode == "thread"; }
  void run_sender(SimThread& self, Process& process, const Entity& entity);
  void run_receiver(SimThread& self, Process& process, const Entity& entity);
  void meet(SimThread& self, Process& process, const Entity& entity) const;
  void note_progress(SimThread& self, int iteration);

  MultirateParameters parameters_;
  std::vector<std::unique_ptr<ThreadBarrier>> barriers_;   ///< by rank
  std::array<std::vector<SimThread*>, 2> threads_of_role_; ///< by role
  int world_communicator_ = 0;
  int finished_ = 0;
  TimePoint timed_start_;
  TimePoint timed_end_;
};

} // namespace contend
