// The communicators of a run.
#pragma once

#include "mpi/mpi.hpp"
#include "multirate/workload.hpp"

#include <vector>

namespace contend::native {

/// Duplicates, so that the info key for overtaking holds on each communicator that data takes. Construction is collective.
class Communicators {
public:
  explicit Communicators(const Workload& workload);
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;
  ~Communicators();

  [[nodiscard]] MPI_Comm world() const { return world_; }
  /// All ranks of this rank's side.
  [[nodiscard]] MPI_Comm side() const { return side_; }
  /// For the messages of a channel.
  [[nodiscard]] MPI_Comm channel(std::int64_t number) const {
    return channels_.empty() ? world_ : channels_[static_cast<std::size_t>(number)];
  }

private:
  MPI_Comm world_ = MPI_COMM_NULL;
  MPI_Comm side_ = MPI_COMM_NULL;
  std::vector<MPI_Comm> channels_;
};

} // namespace contend::native
