#include "workloads/programs/nas_benchmarks.hpp"

#include <array>
#include <cstddef>

namespace contend {

namespace {

constexpr double bt_variables = 5.0;
constexpr double bt_fields =
    6.0; ///< arrays of 5 variables that a pass goes through: solution, right side, forcing, ...
constexpr double bt_left_sides = 3.0; ///< blocks of 5 x 5 of a line of cells, forward substitution

} // namespace

CoTask NasBt::iterate(CoProcess& self, int /*iteration*/) {
  int side = 1;
  while (side * side < self.size()) {
    ++side;
  }
  const int row = self.rank() / side;
  const int column = self.rank() % side;
  const auto at = [&](int r, int c) { return (r + side) % side * side + (c + side) % side; };
  const std::array<int, 6> neighbours{at(row, column + 1), at(row, column - 1),     at(row + 1, column),
                                      at(row - 1, column), at(row + 1, column + 1), at(row - 1, column - 1)};
  const double edge = static_cast<double>(problem_.points) / side; // of a cube
  const double cells = edge * edge * edge * side;                  // of a process
  const double data = cells * bt_variables * bt_fields * double_bytes;
  const double flops = problem_.flops / self.size();

  // Right-hand side: faces two cells deep of all cubes, to and from six neighbours.
  const auto face = static_cast<std::int64_t>(2.0 * edge * edge * side * bt_variables * double_bytes);
  std::array<CoRequest*, 12> requests{};
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    requests[i] = self.irecv(neighbours[i ^ 1U], static_cast<int>(i), face);
    requests[i + neighbours.size()] = self.isend(neighbours[i], static_cast<int>(i), face);
  }
  co_await self.waitall(requests);
  self.compute(arithmetic(0.2 * flops) + first_pass(self, data));

  // Three directions, each with a wave through the cubes forward (with blocks of left sides) and back.
  const auto forward =
      static_cast<std::int64_t>(edge * edge * (bt_variables * bt_variables + bt_variables) * double_bytes);
  const auto backward = static_cast<std::int64_t>(edge * edge * bt_variables * double_bytes);
  const Duration solve =
      arithmetic(0.8 * flops / 3.0 / (2.0 * side)) +
      next_pass(self, (data + cells * bt_variables * bt_variables * bt_left_sides * double_bytes) / side);
  for (int direction = 0; direction < 3; ++direction) {
    const auto ahead = 2 * static_cast<std::size_t>(direction);
    for (int pass = 0; pass < 2; ++pass) {
      const bool is_forward = pass == 0;
      const int to = neighbours[is_forward ? ahead : ahead + 1];
      const int from = neighbours[is_forward ? ahead + 1 : ahead];
      const std::int64_t bytes = is_forward ? forward : backward;
      for (int stage = 0; stage < side; ++stage) {
        // What the next stage needs is waited for together with what this one sends: large messages go round in circles.
        const bool goes_on = stage + 1 < side;
        std::array<CoRequest*, 2> both{};
        if (goes_on) {
          both[0] = self.irecv(from, 16 + direction, bytes);
        }
        self.compute(solve);
        if (goes_on) {
          both[1] = self.isend(to, 16 + direction, bytes);
          co_await self.waitall(both);
        }
      }
    }
  }
}

} // namespace contend
