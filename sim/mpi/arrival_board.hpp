// The receiving side of partitioned communication whose partitions are written into its memory, as RDMA does it.
#pragma once

#include "core/engine.hpp"
#include "models/nic/rdma.hpp"
#include "mpi/partitioned.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// Memory of the receiver that the sender's interface writes, and in which threads look for what has come. Looking costs no
/// events while nothing comes: a thread sleeps in the simulation and goes on at the end of the look that sees the change.
class ArrivalBoard final : public RemoteMemory, private Waitable {
public:
  /// `look`: the price of one look.
  ArrivalBoard(std::string name, Duration look) : name_(std::move(name)), look_(look) {}

  /// Places 0 .. places - 1, none of which has been written.
  void clear(int places) {
    here_.assign(static_cast<std::size_t>(places), false);
    count_ = 0;
  }
  /// The places that a request writes are its offset and the next ones, one for each `place_bytes` of it.
  void set_place_bytes(std::int64_t bytes) { place_bytes_ = bytes; }
  /// Throws InvariantViolation for a place that is written twice or does not exist.
  void written(const RdmaRequest& request) override;

  [[nodiscard]] bool here(int place) const { return here_[static_cast<std::size_t>(place)]; }
  [[nodiscard]] bool here(int first, int last) const;
  [[nodiscard]] bool complete() const { return count_ == here_.size(); }

  void look(SimThread& self) const { self.spend(look_, Category::poll_idle); }
  /// Looks until done().
  template <typename Done>
  void look_until(SimThread& self, Done done) {
    look(self);
    while (!done()) {
      const Duration turn =
          std::max(self.on_its_core(look_), Duration::picoseconds(1)); // on a quick core it may be nothing
      const TimePoint asleep = self.now();
      watching_.push_back(&self);
      self.wait(*this, Category::poll_idle);
      self.spend_time(turn - (self.now() - asleep) % turn, Category::poll_idle);
    }
  }

private:
  [[nodiscard]] std::string describe() const override { return "a partition of " + name_; }

  std::string name_;
  Duration look_;
  std::int64_t place_bytes_ = 1;
  std::vector<bool> here_; ///< by place
  std::size_t count_ = 0;
  std::vector<SimThread*> watching_;
};

/// Partitions are here when their places of a board are written. Nothing tells the sender that the receiver has started.
class BoardReceive : public PartitionedReceive {
public:
  /// `places` of the board, one for each `place_bytes` that are written; both sides meet on `communicator` when they are made.
  BoardReceive(Process& process, const PartitionedShape& shape, int communicator, int places, std::int64_t place_bytes);
  [[nodiscard]] ArrivalBoard& board() { return board_; }

private:
  /// Places that a partition needs, first and last.
  [[nodiscard]] virtual std::pair<int, int> places_of(int partition) const = 0;
  [[nodiscard]] bool here(int partition) const;

  void do_init(SimThread& self) override;
  void do_start(SimThread& self) override;
  bool do_arrived(SimThread& self, int partition) override;
  void do_poll_until_any(SimThread& self) override;
  bool do_test(SimThread& self) override;
  void do_wait(SimThread& self) override;

  int communicator_;
  int places_;
  ArrivalBoard board_;
};

} // namespace contend
