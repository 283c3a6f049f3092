#include "mpi/partitioned.hpp"

#include "core/resume_all.hpp"
#include "core/trace_scope.hpp"
#include "mpi/process.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace contend {

std::pair<int, int> PartitionedShape::overlapping(int receive_partition) const {
  const auto sends = static_cast<std::int64_t>(send_partitions);
  const std::int64_t first = receive_partition * sends / receive_partitions;
  const std::int64_t end = ((receive_partition + 1) * sends + receive_partitions - 1) / receive_partitions;
  return {static_cast<int>(first), static_cast<int>(end) - 1};
}

PartitionedSend::PartitionedSend(Process& process, const PartitionedShape& shape)
    : process_(process), shape_(shape), ready_(static_cast<std::size_t>(shape.send_partitions)) {}

void PartitionedSend::init(SimThread& self) {
  const TraceScope scope(self, process_.rank(), "MPI_Psend_init");
  do_init(self);
}

void PartitionedSend::free(SimThread& self) {
  const TraceScope scope(self, process_.rank(), "MPI_Request_free");
  do_free(self);
}

void PartitionedSend::start(SimThread& self) {
  const TraceScope scope(self, process_.rank(), "MPI_Start");
  if (active_) {
    throw InvariantViolation(process_.name() + " starts a partitioned send that is active");
  }
  self.settle();
  ready_.assign(ready_.size(), false);
  done_ = 0;
  active_ = true;
  do_start(self);
}

void PartitionedSend::ready(SimThread& self, int partition) {
  const TraceScope scope(self, process_.rank(), "MPI_Pready");
  self.settle();
  if (!active_ || partition < 0 || partition >= shape_.send_partitions || ready_[static_cast<std::size_t>(partition)]) {
    throw InvariantViolation(process_.name() + ": partition " + std::to_string(partition) +
                             " is ready twice, before the start, or does not exist");
  }
  ready_[static_cast<std::size_t>(partition)] = true;
  do_ready(self, partition);
  self.settle();
  ++done_;
  if (all_ready() && waiting_ != nullptr) {
    std::exchange(waiting_, nullptr)->resume();
  }
}

void PartitionedSend::ready_range(SimThread& self, int first, int last) {
  for (int partition = first; partition <= last; ++partition) {
    ready(self, partition);
  }
}

void PartitionedSend::ready_list(SimThread& self, std::span<const int> partitions) {
  for (const int partition : partitions) {
    ready(self, partition);
  }
}

bool PartitionedSend::test(SimThread& self) {
  const TraceScope scope(self, process_.rank(), "MPI_Test");
  self.settle();
  if (active_ && (!all_ready() || !do_test(self))) {
    return false;
  }
  active_ = false;
  return true;
}

void PartitionedSend::wait(SimThread& self) {
  const TraceScope scope(self, process_.rank(), "MPI_Wait");
  self.settle();
  if (!active_) {
    return;
  }
  if (!all_ready()) {
    waiting_ = &self;
    self.wait(*this, Category::poll_idle);
  }
  do_wait(self);
  active_ = false;
}

void PartitionedReceive::init(SimThread& self) {
  const TraceScope scope(self, process_.rank(), "MPI_Precv_init");
  do_init(self);
}

void PartitionedReceive::free(SimThread& self) {
  const TraceScope scope(self, process_.rank(), "MPI_Request_free");
  do_free(self);
}

void PartitionedReceive::start(SimThread& self) {
  const TraceScope scope(self, process_.rank(), "MPI_Start");
  if (active_) {
    throw InvariantViolation(process_.name() + " starts a partitioned receive that is active");
  }
  self.settle();
  active_ = true;
  do_start(self);
}

void PartitionedReceive::require_active(const char* call) const {
  if (!active_) {
    throw InvariantViolation(process_.name() + " calls " + call + " on a partitioned receive that is not active");
  }
}

bool PartitionedReceive::arrived(SimThread& self, int partition) {
  const TraceScope scope(self, process_.rank(), "MPI_Parrived");
  require_active("MPI_Parrived");
  if (partition < 0 || partition >= shape_.receive_partitions) {
    throw InvariantViolation(process_.name() + " has no receive partition " + std::to_string(partition));
  }
  return do_arrived(self, partition);
}

void PartitionedReceive::poll_until_any(SimThread& self) {
  const TraceScope scope(self, process_.rank(), "MPI_Parrived");
  require_active("MPI_Parrived");
  do_poll_until_any(self);
}

bool PartitionedReceive::test(SimThread& self) {
  const TraceScope scope(self, process_.rank(), "MPI_Test");
  if (active_ && !do_test(self)) {
    return false;
  }
  active_ = false;
  return true;
}

void PartitionedReceive::wait(SimThread& self) {
  const TraceScope scope(self, process_.rank(), "MPI_Wait");
  if (active_) {
    do_wait(self);
    active_ = false;
  }
}

void meet_peer(SimThread& self, Process& process, int communicator, int peer) {
  constexpr int tag = -900; // negative tags are the library's own
  const std::array<Request*, 2> both{process.irecv(self, communicator, peer, tag, 0),
                                     process.isend(self, communicator, peer, tag, 0)};
  process.waitall(self, both);
}

Registry<PartitionedFactory>& partitioned_registry() {
  static Registry<PartitionedFactory> registry{
      {"aggregating", {make_aggregating_partitioned, {.puts = true}}},
      {"persistent", make_persistent_partitioned},
      {"rma", {make_rma_partitioned, {.puts = true}}},
      {"whole-buffer", make_whole_buffer_partitioned},
  };
  return registry;
}

} // namespace contend
