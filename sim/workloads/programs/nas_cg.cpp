#include "workloads/programs/nas_benchmarks.hpp"

#include <array>

namespace contend {

namespace {

constexpr double matrix_entry_bytes = 12.0; ///< a value and its column
constexpr std::int64_t vector_element_bytes = 8;

} // namespace

/// A sum over the processes of a row of the grid: recursive doubling.
CoTask NasCg::sum_over_row(CoProcess& self, int columns, std::int64_t bytes) {
  for (int bit = 1; bit < columns; bit *= 2) {
    const int partner = self.rank() ^ bit;
    std::array<CoRequest*, 2> both{};
    both[0] = self.irecv(partner, 0, bytes);
    both[1] = self.isend(partner, 0, bytes);
    co_await self.waitall(both);
    self.compute(self.memory().copy(bytes));
  }
}

CoTask NasCg::iterate(CoProcess& self, int /*iteration*/) {
  const int columns = wide_side(self.size()); // as many as rows, or twice as many
  const int rows = self.size() / columns;
  const double order = problem_.points;
  const double entries = order * problem_.nonzeros * (problem_.nonzeros + 1) / self.size();
  const double flops = problem_.flops / self.size();
  const double part =
      order / columns * static_cast<double>(vector_element_bytes); // of the vector that the matrix is applied to
  // Elements of the vector are picked by the columns of the matrix's entries, in no order.
  self.compute(arithmetic(flops) + first_pass(self, entries * matrix_entry_bytes) +
               self.memory().stall(entries, {1.0, static_cast<std::int64_t>(part)}));
  const auto piece = static_cast<std::int64_t>(order / rows * static_cast<double>(vector_element_bytes) / columns);
  co_await sum_over_row(self, columns, piece * columns / (columns > 1 ? 2 : 1));
  // The transposed process: where there are twice as many columns, pairs of columns count as one.
  const int wide = columns / rows;
  const int row = self.rank() / columns;
  const int column = self.rank() % columns;
  const int partner = column / wide * columns + row * wide + column % wide;
  std::array<CoRequest*, 2> both{};
  both[0] = self.irecv(partner, 1, piece * columns / wide);
  both[1] = self.isend(partner, 1, piece * columns / wide);
  co_await self.waitall(both);
  co_await sum_over_row(self, columns, vector_element_bytes);
  co_await sum_over_row(self, columns, vector_element_bytes);
}

} // namespace contend
