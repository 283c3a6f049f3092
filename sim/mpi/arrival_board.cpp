#include "mpi/arrival_board.hpp"

#include "core/resume_all.hpp"
#include "mpi/process.hpp"

#include <algorithm>

namespace contend {

void ArrivalBoard::written(const RdmaRequest& request) {
  const auto places = static_cast<std::size_t>(std::max<std::int64_t>(1, request.bytes / place_bytes_));
  for (auto place = static_cast<std::size_t>(request.offset); place < static_cast<std::size_t>(request.offset) + places;
       ++place) {
    if (place >= here_.size() || here_[place]) {
      throw InvariantViolation("place " + std::to_string(place) + " of " + name_ +
                               " is written twice, or before the receiver has started");
    }
    here_[place] = true;
    ++count_;
  }
  resume_all(watching_);
}

bool ArrivalBoard::here(int first, int last) const {
  for (int place = first; place <= last; ++place) {
    if (!here(place)) {
      return false;
    }
  }
  return true;
}

BoardReceive::BoardReceive(Process& process, const PartitionedShape& shape, int communicator, int places,
                           std::int64_t place_bytes)
    : PartitionedReceive(process, shape), communicator_(communicator), places_(places),
      board_(process.name() + "/partitioned receive",
             process.settings().software.one_sided_synchronize + process.host().cache().l3_hit) {
  board_.set_place_bytes(place_bytes);
}

bool BoardReceive::here(int partition) const {
  const auto [first, last] = places_of(partition);
  return board_.here(first, last);
}

void BoardReceive::do_init(SimThread& self) { meet_peer(self, process(), communicator_, shape().sender); }

void BoardReceive::do_start(SimThread& /*self*/) { board_.clear(places_); }

bool BoardReceive::do_arrived(SimThread& self, int partition) {
  board_.look(self);
  return here(partition);
}

void BoardReceive::do_poll_until_any(SimThread& self) {
  board_.look_until(self, [this] {
    for (int partition = 0; partition < shape().receive_partitions; ++partition) {
      if (here(partition)) {
        return true;
      }
    }
    return false;
  });
}

bool BoardReceive::do_test(SimThread& self) {
  board_.look(self);
  return board_.complete();
}

void BoardReceive::do_wait(SimThread& self) {
  board_.look_until(self, [this] { return board_.complete(); });
}

} // namespace contend
