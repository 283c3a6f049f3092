#include "workloads/programs/nas_benchmarks.hpp"

#include <array>
#include <cmath>
#include <cstddef>

namespace contend {

namespace {

constexpr double mg_passes = 4.0; ///< residual, smoother, restriction, interpolation
constexpr double mg_arrays = 2.0; ///< that a pass goes through

double cube(double x) { return x * x * x; }

/// A grid of powers of two, as even as can be: x has the least.
struct Grid {
  explicit Grid(int processes) {
    for (int axis = 2; processes > 1; axis = (axis + 2) % 3, processes /= 2) {
      side[static_cast<std::size_t>(axis)] *= 2;
    }
  }
  [[nodiscard]] int neighbour(int rank, std::size_t axis, int step) const {
    std::array<int, 3> place{rank % side[0], rank / side[0] % side[1], rank / side[0] / side[1]};
    place[axis] = (place[axis] + step + side[axis]) % side[axis];
    return place[0] + side[0] * (place[1] + side[1] * place[2]);
  }
  std::array<int, 3> side{1, 1, 1};
};

} // namespace

/// The faces of a level of `points` in each direction, one axis after the other.
CoTask NasMg::exchange_faces(CoProcess& self, int points) {
  const Grid grid(self.size());
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (grid.side[axis] == 1) {
      continue;
    }
    double face = double_bytes;
    for (std::size_t other = 0; other < 3; ++other) {
      face *= other == axis ? 1.0 : std::ceil(static_cast<double>(points) / grid.side[other]);
    }
    std::array<CoRequest*, 4> requests{};
    for (int step = 0; step < 2; ++step) {
      const int to = grid.neighbour(self.rank(), axis, 2 * step - 1);
      const int from = grid.neighbour(self.rank(), axis, 1 - 2 * step);
      requests[2 * static_cast<std::size_t>(step)] = self.irecv(from, step, static_cast<std::int64_t>(face));
      requests[2 * static_cast<std::size_t>(step) + 1] = self.isend(to, step, static_cast<std::int64_t>(face));
    }
    co_await self.waitall(requests);
  }
}

CoTask NasMg::iterate(CoProcess& self, int /*iteration*/) {
  // Down to a grid of 4 points and up again; each level has an eighth of the work of the next finer one.
  const double whole = 8.0 / 7.0;
  for (int half = 0; half < 2; ++half) {
    const bool down = half == 0;
    for (int level = 0; problem_.points >> level >= 4; ++level) {
      int points = problem_.points >> level;
      if (!down) {
        points = 4;
        for (int i = 0; i < level; ++i) {
          points *= 2;
        }
      }
      const double share = cube(static_cast<double>(points) / problem_.points) / whole / 2.0;
      const double cells = cube(points) / self.size();
      const double data = cells * mg_arrays * double_bytes;
      self.compute(arithmetic(problem_.flops * share / self.size()) + first_pass(self, data) +
                   next_pass(self, data * (mg_passes / 2.0 - 1.0)));
      co_await exchange_faces(self, points);
    }
  }
}

} // namespace contend
