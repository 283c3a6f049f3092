// What test and wait calls cost over n receives of which k are complete (loop of contend-waiting):
//
//   rank 0: post n receives; repeat: send a word, receive a word; time the call; complete what it left, post it again
//   rank 1: repeat: receive a word; send the k messages, then a word: one channel keeps order, so all is there when it is
//
// With nothing complete a call changes nothing, and is repeated within a round. What a program's reading of the clock
// takes (machine.waiting.clock) is part of the time of a round, as it is there.
#pragma once

#include "workloads/workload.hpp"

#include <utility>
#include <vector>

namespace contend {

class WaitCalls final : public Workload {
public:
  explicit WaitCalls(WaitingWorkloadParameters parameters) : parameters_(std::move(parameters)) {}

  [[nodiscard]] std::vector<int> host_of_rank() const override { return {0, 1}; }
  [[nodiscard]] Role role_of_rank(int rank) const override { return rank == 0 ? Role::receiver : Role::sender; }
  [[nodiscard]] std::uint64_t planned_operations() const override;
  void start(World& world) override;
  [[nodiscard]] WorkloadResult result(const World& world) const override;

private:
  static constexpr int calls_that_change_nothing = 20;

  [[nodiscard]] bool syncs() const { return parameters_.call.rfind("sync", 0) == 0; }
  [[nodiscard]] int calls() const { return parameters_.complete == 0 ? calls_that_change_nothing : 1; }
  [[nodiscard]] int rounds() const;
  [[nodiscard]] std::vector<int> positions() const;
  [[nodiscard]] int word() const { return parameters_.requests; }

  void run_caller(SimThread& self, Process& process);
  void run_sender(SimThread& self, Process& process) const;
  void call(SimThread& self, Process& process);
  Duration attach_again(SimThread& self, Process& process);
  [[nodiscard]] std::size_t first_hot() const;
  void post(SimThread& self, Process& process, int position);
  void finish_round(SimThread& self, Process& process, bool last);

  WaitingWorkloadParameters parameters_;
  int communicator_ = 0;
  std::vector<Request*> requests_;
  std::vector<bool> reported_; ///< by position: a query has reported it
  UserSync* sync_ = nullptr;
  std::vector<SimThread*> threads_;
  Duration untimed_; ///< of the round: what calls need before or after them
  Duration timed_;
  std::int64_t timed_calls_ = 0;
  std::int64_t completed_ = 0; ///< receives, all in all
};

} // namespace contend
