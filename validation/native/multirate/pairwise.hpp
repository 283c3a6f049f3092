// Pattern pairwise: sender i streams windows of messages to receiver i.
#pragma once

#include "multirate/exchange.hpp"

namespace contend::native {

/// The loop of the study's benchmark. With a shared communicator all pairs of thread mode use the same tags: any sender's
/// message k fits any receiver's receive k.
class Pairwise final : public Exchange {
public:
  using Exchange::Exchange;
  void iterate(Entity& entity, std::int64_t iteration) override;

protected:
  [[nodiscard]] std::size_t requests_of(Role role) const override;

private:
  void iterate_sender(Entity& entity, std::int64_t iteration);
  void iterate_receiver(Entity& entity, std::int64_t iteration);
};

} // namespace contend::native
