// A collective operation again and again.
#pragma once

#include "mpi/coroutines/barrier.hpp"
#include "mpi/coroutines/collectives.hpp"
#include "workloads/programs/program.hpp"

namespace contend {

/// An operation is one collective operation of the whole job.
class Collective final : public Program {
public:
  explicit Collective(const CollectiveParameters& parameters) : Program(parameters), parameters_(parameters) {}

protected:
  CoTask iterate(CoProcess& self, int /*iteration*/) override {
    const ProcessGroup all = ProcessGroup::world(self);
    const std::int64_t bytes = parameters_.message_size_bytes;
    if (parameters_.operation == "broadcast") {
      return broadcast(self, all, 0, bytes);
    }
    if (parameters_.operation == "reduce") {
      return reduce(self, all, 0, bytes);
    }
    if (parameters_.operation == "all-reduce") {
      return all_reduce(self, all, bytes);
    }
    return parameters_.operation == "pi" ? pi(self) : barrier(self);
  }

private:
  CoTask pi(CoProcess& self) const {
    const ProcessGroup all = ProcessGroup::world(self);
    co_await broadcast(self, all, 0, parameters_.message_size_bytes);
    self.compute(parameters_.work);
    co_await reduce(self, all, 0, parameters_.message_size_bytes);
  }

  CollectiveParameters parameters_;
};

} // namespace contend
