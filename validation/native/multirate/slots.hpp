// Pattern pairwise without windows: requests are kept in flight, each posted again when it is found complete.
#pragma once

#include "multirate/exchange.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace contend::native {

/// The loops of GHEX's transport benchmarks (ghex_p2p_ft_mt.cpp, mpi_avail.cpp, mpi_avail_any.cpp). Nobody answers. An iteration
/// posts as many requests as there are slots, and its threads leave it with requests in all of them. A thread that looks for
/// any serves some slots more often than its peer does: what one side has more of goes out in `finish`.
class Slots final : public Exchange {
public:
  Slots(const Workload& workload, const Communicators& communicators, Verifier* verifier, std::int64_t corrupt);
  void iterate(Entity& entity, std::int64_t iteration) override;
  void finish(Entity& entity) override;
  /// After `finish`.
  [[nodiscard]] std::int64_t messages(std::int64_t iterations) const override;
  [[nodiscard]] std::vector<std::int64_t> messages_by_place(std::int64_t iterations) const override;

protected:
  [[nodiscard]] bool corrupts(const Stamp& stamp) const override;
  [[nodiscard]] std::size_t requests_of(Role role) const override;

private:
  /// Of one thread; on cache lines of its own, as all of it changes with every message.
  struct alignas(128) State {
    std::vector<std::int64_t> posted; ///< by slot
    std::int64_t postings = 0;
    std::size_t next = 0; ///< slot to be tested
  };
  /// Of both roles, by pair and slot.
  struct Posted {
    std::vector<std::int64_t> senders;
    std::vector<std::int64_t> receivers;
  };

  [[nodiscard]] State& state(const Entity& entity) { return states_[static_cast<std::size_t>(entity.thread)]; }
  /// A slot whose request is complete, and checked.
  [[nodiscard]] std::size_t find(Entity& entity);
  [[nodiscard]] std::size_t test_in_turn(Entity& entity, MPI_Status* status);
  void post(Entity& entity, std::size_t slot);
  /// A request for a slot's messages, from or to one of the buffers.
  [[nodiscard]] MPI_Request start(Entity& entity, std::size_t slot, std::size_t buffer);
  void check(Entity& entity, std::size_t buffer, const MPI_Status& status);
  /// Collective: what all have posted, and from it who closes what.
  void settle(Role role);

  std::vector<State> states_;         ///< by thread
  Posted posted_;                     ///< of all processes
  std::vector<std::int64_t> missing_; ///< of this role, by pair and slot: messages that make both sides alike
};

} // namespace contend::native
