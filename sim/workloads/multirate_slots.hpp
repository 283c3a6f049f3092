// Multirate without windows: sender i keeps requests in flight to receiver i, each posted again as soon as it is found complete.
#pragma once

#include "workloads/multirate_pairs.hpp"

namespace contend {

/// The loops of GHEX's transport benchmarks (ghex_p2p_ft_mt.cpp, mpi_avail.cpp, mpi_avail_any.cpp), and of runtimes that look for
/// whatever is complete. Nobody answers. Each slot has as many messages as there are iterations, so that what is sent with a tag is
/// received, whichever thread does it.
class MultirateSlots final : public MultiratePairs {
public:
  using MultiratePairs::MultiratePairs;

private:
  struct Slots;

  void run(SimThread& self, const Entity& entity) override;
  /// So many messages in each slot. All are complete at the end.
  void fill_slots(SimThread& self, const Entity& entity, int messages) const;
  /// By MPI_Test of one slot after the other.
  void test_in_turn(SimThread& self, const Entity& entity, Slots& slots) const;
  /// By MPI_Testany or MPI_Waitany of all of them.
  void look_for_any(SimThread& self, const Entity& entity, Slots& slots) const;
  void post(SimThread& self, const Entity& entity, Slots& slots, std::size_t place) const;
};

} // namespace contend
