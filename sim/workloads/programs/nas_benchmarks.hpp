// The NAS skeletons, one class a benchmark.
#pragma once

#include "workloads/programs/nas.hpp"

namespace contend {

/// Block tridiagonal solver: a square grid of q x q processes, each with q cubes of the volume (multi-partition). A time step
/// exchanges faces and then solves along x, y and z, forward and back, one cube a stage.
class NasBt final : public NasProgram {
public:
  using NasProgram::NasProgram;

protected:
  CoTask iterate(CoProcess& self, int iteration) override;
};

/// Conjugate gradient: a matrix in blocks on a grid of processes. Each inner iteration multiplies the matrix by a vector,
/// sums the result over the rows of the grid, exchanges it with the transposed process, and makes two sums of numbers.
class NasCg final : public NasProgram {
public:
  using NasProgram::NasProgram;

protected:
  CoTask iterate(CoProcess& self, int iteration) override;

private:
  static CoTask sum_over_row(CoProcess& self, int columns, std::int64_t bytes);
};

/// Lower-upper solver: pencils on a grid of processes; the planes of both sweeps pass from corner to corner as waves.
class NasLu final : public NasProgram {
public:
  using NasProgram::NasProgram;

protected:
  CoTask iterate(CoProcess& self, int iteration) override;

private:
  CoTask sweep(CoProcess& self, bool up, Duration work) const;
};

/// Multigrid: cubes on a grid of processes; a V-cycle exchanges the faces of every level.
class NasMg final : public NasProgram {
public:
  using NasProgram::NasProgram;

protected:
  CoTask iterate(CoProcess& self, int iteration) override;

private:
  static CoTask exchange_faces(CoProcess& self, int points);
};

} // namespace contend
