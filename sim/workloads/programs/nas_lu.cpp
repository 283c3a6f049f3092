#include "workloads/programs/nas_benchmarks.hpp"

#include <array>

namespace contend {

namespace {

constexpr double lu_variables = 5.0;
constexpr double lu_fields = 4.0; ///< arrays of 5 variables that a pass goes through

} // namespace

/// One sweep: each plane comes from two neighbours and goes to the two others.
CoTask NasLu::sweep(CoProcess& self, bool up, Duration work) const {
  const int columns = wide_side(self.size());
  const int rows = self.size() / columns;
  const int row = self.rank() / columns;
  const int column = self.rank() % columns;
  const int step = up ? -1 : 1;
  const auto inside = [&](int r, int c) { return r >= 0 && r < rows && c >= 0 && c < columns; };
  const double points = problem_.points;
  const auto along_row = static_cast<std::int64_t>(points / rows * lu_variables * double_bytes);
  const auto along_column = static_cast<std::int64_t>(points / columns * lu_variables * double_bytes);
  for (int plane = 0; plane < problem_.points - 2; ++plane) {
    if (inside(row, column - step)) {
      co_await self.recv(self.rank() - step, 0, along_row);
    }
    if (inside(row - step, column)) {
      co_await self.recv(self.rank() - step * columns, 1, along_column);
    }
    self.compute(work);
    std::array<CoRequest*, 2> sends{};
    std::size_t used = 0;
    if (inside(row, column + step)) {
      sends[used++] = self.isend(self.rank() + step, 0, along_row);
    }
    if (inside(row + step, column)) {
      sends[used++] = self.isend(self.rank() + step * columns, 1, along_column);
    }
    co_await self.waitall(std::span<CoRequest* const>(sends).first(used));
  }
}

CoTask NasLu::iterate(CoProcess& self, int /*iteration*/) {
  const double points = problem_.points;
  const double cells = points * points * points / self.size();
  const double data = cells * lu_variables * lu_fields * double_bytes;
  const double flops = problem_.flops / self.size();
  // A third of the work is the right-hand side; each sweep has a third, in planes, between which the others run.
  const Duration plane =
      arithmetic(flops / 3.0 / points) + self.memory().stream(data / points, static_cast<std::int64_t>(data));
  co_await sweep(self, false, plane);
  co_await sweep(self, true, plane);

  const int columns = wide_side(self.size());
  const int rows = self.size() / columns;
  const int row = self.rank() / columns;
  const int column = self.rank() % columns;
  const auto along_row = static_cast<std::int64_t>(2.0 * points * points / rows * lu_variables * double_bytes);
  const auto along_column = static_cast<std::int64_t>(2.0 * points * points / columns * lu_variables * double_bytes);
  std::array<CoRequest*, 8> requests{};
  std::size_t used = 0;
  const auto exchange = [&](bool exists, int partner, int tag, std::int64_t bytes) {
    if (exists) {
      requests[used++] = self.irecv(partner, tag, bytes);
      requests[used++] = self.isend(partner, tag ^ 1, bytes);
    }
  };
  exchange(column > 0, self.rank() - 1, 2, along_row);
  exchange(column + 1 < columns, self.rank() + 1, 3, along_row);
  exchange(row > 0, self.rank() - columns, 4, along_column);
  exchange(row + 1 < rows, self.rank() + columns, 5, along_column);
  co_await self.waitall(std::span<CoRequest* const>(requests).first(used));
  self.compute(arithmetic(flops / 3.0) + first_pass(self, data));
}

} // namespace contend
