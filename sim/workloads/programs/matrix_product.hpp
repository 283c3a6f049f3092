// Cannon's matrix product: blocks of A move left, blocks of B move up, on a square grid of processes.
#pragma once

#include "models/memory/compute_parameters.hpp"
#include "workloads/programs/program.hpp"

namespace contend {

/// An operation is one product.
class MatrixProduct final : public Program {
public:
  /// Requires a square number of processes, whose root divides the matrix size.
  MatrixProduct(const MatrixProductParameters& parameters, const ComputeParameters& prices);

  /// What multiplying two blocks of `block` rows costs a process that shares its core with `processes - 1` others.
  [[nodiscard]] Duration multiply(const WorkingSet& memory, int block, int processes) const;

protected:
  CoTask iterate(CoProcess& self, int iteration) override;

private:
  MatrixProductParameters parameters_;
  ComputeParameters prices_;
  int side_; ///< of the grid
};

} // namespace contend
