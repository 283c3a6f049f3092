#include "multirate/communicators.hpp"

namespace contend::native {

namespace {

MPI_Comm duplicate(bool allow_overtaking) {
  MPI_Comm copy = MPI_COMM_NULL;
  if (!allow_overtaking) {
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    return copy;
  }
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_allow_overtaking", "true");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &copy);
  MPI_Info_free(&info);
  return copy;
}

} // namespace

Communicators::Communicators(const Workload& workload) : world_(duplicate(workload.allow_overtaking)) {
  int rank = 0;
  MPI_Comm_rank(world_, &rank);
  MPI_Comm_split(world_, static_cast<int>(workload.role_of_rank(rank)), rank, &side_);
  if (workload.communicator_per_pair) {
    for (std::int64_t channel = 0; channel < workload.channels(); ++channel) {
      channels_.push_back(duplicate(workload.allow_overtaking));
    }
  }
}

Communicators::~Communicators() {
  for (MPI_Comm& channel : channels_) {
    MPI_Comm_free(&channel);
  }
  MPI_Comm_free(&side_);
  MPI_Comm_free(&world_);
}

} // namespace contend::native
