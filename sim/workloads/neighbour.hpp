// Neighbour message rate: threads of the processes of one host exchange windows of messages, each with a process on a host of
// its own (multithreaded SQMR).
#pragma once

#include "workloads/workload.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace contend {

/// An iteration of a thread: post a window of receives from its peer and a window of sends to it, wait for all; the peer does
/// the same. The message rate is that of the messages which the root's processes send.
class Neighbour final : public Workload {
public:
  explicit Neighbour(NeighbourParameters parameters) : parameters_(std::move(parameters)) {}

  [[nodiscard]] std::vector<int> host_of_rank() const override;
  [[nodiscard]] Role role_of_rank(int rank) const override {
    return rank < parameters_.root_processes ? Role::sender : Role::receiver;
  }
  [[nodiscard]] std::uint64_t planned_operations() const override;
  void start(World& world) override;
  [[nodiscard]] WorkloadResult result(const World& world) const override;

private:
  static constexpr int root_host = 0;

  /// With whom a thread exchanges messages.
  struct Partner {
    int rank;
    int tag; ///< of the messages, both ways
  };

  [[nodiscard]] int pairs() const { return parameters_.root_processes * parameters_.threads; }
  [[nodiscard]] int all_iterations() const { return parameters_.warmup_iterations + parameters_.iterations; }
  void spawn(World& world, Role role, int rank, Partner partner);
  void run(SimThread& self, Process& process, Role role, Partner partner);
  void exchange_messages(SimThread& self, Process& process, Role role, Partner partner,
                         std::vector<Request*>& requests) const;
  void exchange_active(SimThread& self, Process& process, int partner, int iteration) const;

  NeighbourParameters parameters_;
  int communicator_ = 0;
  std::vector<std::pair<Role, SimThread*>> threads_;
  int finished_ = 0; ///< threads of the root
  TimePoint timed_start_;
  TimePoint timed_end_;
};

} // namespace contend
