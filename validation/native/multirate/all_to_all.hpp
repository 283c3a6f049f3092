// Patterns one-to-many, many-to-one and many-to-many: every sender streams windows of messages to every receiver.
#pragma once

#include "multirate/exchange.hpp"

namespace contend::native {

class AllToAll final : public Exchange {
public:
  using Exchange::Exchange;
  void iterate(Entity& entity, std::int64_t iteration) override;

protected:
  [[nodiscard]] std::size_t requests_of(Role role) const override;

private:
  void iterate_sender(Entity& entity, std::int64_t iteration);
  void iterate_receiver(Entity& entity, std::int64_t iteration);
  [[nodiscard]] MPI_Comm channel(int sender, int receiver) const;
  /// Tells the threads of a receiving process apart.
  [[nodiscard]] int tag_of(int receiver) const { return workload().threads(Role::receiver) ? receiver : 0; }
  /// All threads of this side.
  void meet_side(const Entity& entity) { meet(entity, communicators().side()); }
};

} // namespace contend::native
