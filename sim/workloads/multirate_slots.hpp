// Multirate without windows: sender i keeps requests in flight to receiver i, each posted again as soon as it is found complete.
#pragma once

#include "workloads/multirate_pairs.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace contend {

/// The loops of GHEX's transport benchmarks (ghex_p2p_ft_mt.cpp, mpi_avail.cpp, mpi_avail_any.cpp), and of runtimes that look for
/// whatever is complete. Nobody answers, and each thread has a request in every slot until it has posted as many as its windows
/// have messages. A thread that looks for any serves some slots more often than its peer: what is left in the others, which the
/// programs leave there, goes out after the clock has stopped.
class MultirateSlots final : public MultiratePairs {
public:
  using MultiratePairs::MultiratePairs;

private:
  struct Slots;
  /// Messages that one another's receives take: communicator, sending and receiving rank, tag; -1: any.
  using Channel = std::array<int, 4>;
  struct Traffic {
    std::array<std::int64_t, 2> posted{}; ///< by role
    std::array<int, 2> closed_by{-1, -1}; ///< the entity of each role that makes both alike
  };

  void run(SimThread& self, const Entity& entity) override;
  [[nodiscard]] std::int64_t messages() const override { return Multirate::messages() + closing_; }
  /// So many requests more. Those of all slots are in flight meanwhile, and afterwards.
  void post_more(SimThread& self, const Entity& entity, Slots& slots, std::int64_t count);
  /// By MPI_Test of one slot after the other.
  void test_in_turn(SimThread& self, const Entity& entity, Slots& slots);
  /// By MPI_Testany or MPI_Waitany of all of them.
  void look_for_any(SimThread& self, const Entity& entity, Slots& slots);
  void post(SimThread& self, const Entity& entity, Slots& slots, std::size_t place);
  /// Everybody has posted all: what one side has more of is sent or received, and all of it completed.
  void close(SimThread& self, const Entity& entity, Slots& slots);
  [[nodiscard]] Request* new_request(SimThread& self, const Entity& entity, int place) const;
  [[nodiscard]] Channel channel_of(const Entity& entity, int place) const;

  std::map<Channel, Traffic> traffic_;
  std::int64_t closing_ = 0; ///< messages that one side had more of
};

} // namespace contend
