// Packing with the help of threads that wait (D ch. 4, thread pool).
#pragma once

#include "workloads/workload.hpp"

#include <vector>

namespace contend {

class Pack final : public Workload {
public:
  explicit Pack(PackParameters parameters) : parameters_(parameters) {}

  [[nodiscard]] std::vector<int> host_of_rank() const override { return {0, 1}; }
  [[nodiscard]] Role role_of_rank(int rank) const override { return rank == 0 ? Role::sender : Role::receiver; }
  [[nodiscard]] std::uint64_t planned_operations() const override;
  void start(World& world) override;
  [[nodiscard]] WorkloadResult result(const World& world) const override;

private:
  void run_packer(SimThread& self, Process& process);
  void run_helper(SimThread& self, Process& process, int number);
  void run_peer(SimThread& self, Process& process) const;

  PackParameters parameters_;
  int communicator_ = 0;
  std::vector<SimThread*> threads_;
  int helped_ = 0; ///< helpers that have had their message
  TimePoint timed_start_;
  TimePoint timed_end_;
};

} // namespace contend
