#include "workloads/programs/matrix_product.hpp"

#include <array>

namespace contend {

namespace {

constexpr std::int64_t matrix_element = 8; ///< bytes of a double
constexpr std::int64_t cache_line = 64;

int root_of(int square) {
  int root = 0;
  while ((root + 1) * (root + 1) <= square) {
    ++root;
  }
  return root;
}

} // namespace

MatrixProduct::MatrixProduct(const MatrixProductParameters& parameters, const ComputeParameters& prices)
    : Program(parameters), parameters_(parameters), prices_(prices), side_(root_of(layout().processes())) {}

/// Three loops: the innermost goes along a row of A and down a column of B. Each step touches another line of B. The next
/// columns' elements are in the same lines: 7 of 8 accesses come back to a line after one column of lines, as far apart as
/// rows are long. The eighth comes to a line that was used for the row of A before: after the whole block of B and what is
/// written meanwhile. When the process gets its core back, the blocks of the others have been through the caches.
Duration MatrixProduct::multiply(const WorkingSet& memory, int block, int processes) const {
  const auto b = static_cast<double>(block);
  const std::int64_t block_bytes = std::int64_t{block} * block * matrix_element;
  if (parameters_.multiply == "library") {
    return prices_.kernel_call + prices_.kernel_element.scaled(b * b) +
           Duration::seconds(2.0 * b * b * b / prices_.kernel_flops);
  }
  const double operations = b * b * b;
  constexpr double per_line = static_cast<double>(cache_line) / static_cast<double>(matrix_element);
  const Reuse matrix{1.0 / per_line, 2 * block_bytes};
  const Reuse cold{1.0 / per_line, 3 * block_bytes * processes};
  return prices_.multiply_add.scaled(operations) + prices_.loop_exit.scaled(b * b) +
         memory.exposed(operations * (per_line - 1.0) / per_line,
                        memory.beyond_l1_strided(block, block * matrix_element)) +
         memory.stall(operations, matrix) + memory.stall(3.0 * b * b, cold);
}

CoTask MatrixProduct::iterate(CoProcess& self, int /*iteration*/) {
  const int block = parameters_.matrix_size / side_;
  const std::int64_t bytes = std::int64_t{block} * block * matrix_element;
  const int row = self.rank() / side_;
  const int column = self.rank() % side_;
  const auto at = [&](int r, int c) { return (r + side_) % side_ * side_ + (c + side_) % side_; };
  const Duration work = multiply(self.memory(), block, parameters_.processes_per_os_process);
  for (int step = 0; step < side_; ++step) {
    std::array<CoRequest*, 4> moves{};
    moves[0] = self.irecv(at(row, column + 1), 0, bytes); // the next block of A
    moves[1] = self.irecv(at(row + 1, column), 1, bytes); // the next block of B
    self.compute(work);
    moves[2] = self.isend(at(row, column - 1), 0, bytes);
    moves[3] = self.isend(at(row - 1, column), 1, bytes);
    co_await self.waitall(moves);
  }
}

} // namespace contend
