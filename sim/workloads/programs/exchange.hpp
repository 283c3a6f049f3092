// Computation and exchange between two halves of a job, of a volume that does not depend on the number of processes.
#pragma once

#include "workloads/programs/program.hpp"

#include <array>

namespace contend {

/// Each process computes its part, then exchanges its part of the volume with its partner in the other half. An operation is
/// one exchange of the whole volume; where that does not divide, parts differ by a byte.
class Exchange final : public Program {
public:
  explicit Exchange(const ExchangeParameters& parameters) : Program(parameters), parameters_(parameters) {}

protected:
  CoTask iterate(CoProcess& self, int /*iteration*/) override {
    const int half = self.size() / 2;
    const int partner = (self.rank() + half) % self.size();
    const std::int64_t bytes =
        parameters_.volume_bytes / half + (self.rank() % half < parameters_.volume_bytes % half ? 1 : 0);
    std::array<CoRequest*, 2> both{};
    both[0] = self.irecv(partner, 0, bytes);
    self.compute(parameters_.work.scaled(1.0 / half));
    both[1] = self.isend(partner, 0, bytes);
    co_await self.waitall(both);
  }
  [[nodiscard]] std::int64_t bytes_per_iteration() const override { return 2 * parameters_.volume_bytes; }

private:
  ExchangeParameters parameters_;
};

} // namespace contend
