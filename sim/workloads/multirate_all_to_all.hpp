// Multirate, all-to-all: every sender streams a window of messages to every receiver. With one entity on a side it is the
// one-to-many or the many-to-one pattern (loop of the published benchmark).
#pragma once

#include "workloads/multirate.hpp"

namespace contend {

class MultirateAllToAll final : public Multirate {
public:
  using Multirate::Multirate;

private:
  [[nodiscard]] std::int64_t messages_per_iteration() const override {
    return std::int64_t{parameters().senders} * parameters().receivers * parameters().window;
  }
  void create_communicators(World& world) override;
  void run(SimThread& self, const Entity& entity) override;
  void run_sender(SimThread& self, const Entity& entity);
  void run_receiver(SimThread& self, const Entity& entity);
  void meet(SimThread& self, const Entity& entity) const;
  [[nodiscard]] int communicator(int sender, int receiver) const;

  std::vector<int> communicators_;          ///< by sender, then receiver; empty: all share one
  std::array<int, 2> side_communicators_{}; ///< by role: of the processes of one side, for their barriers
};

} // namespace contend
