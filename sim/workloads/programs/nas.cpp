#include "workloads/programs/nas.hpp"

#include "workloads/programs/nas_benchmarks.hpp"

#include <array>
#include <bit>
#include <stdexcept>

namespace contend {

namespace {

struct Case {
  std::string_view benchmark;
  std::string_view problem_class;
  int points;
  int steps;
  int nonzeros;
};

// NPB 3.3, files npbparams of each benchmark. CG: outer iterations here; each has 25 inner ones and one more product.
constexpr std::array cases{
    Case{"BT", "B", 102, 200, 0},    Case{"BT", "C", 162, 200, 0},     Case{"BT", "D", 408, 250, 0},
    Case{"CG", "B", 75'000, 75, 13}, Case{"CG", "C", 150'000, 75, 15}, Case{"CG", "D", 1'500'000, 100, 21},
    Case{"LU", "B", 102, 250, 0},    Case{"LU", "C", 162, 250, 0},     Case{"LU", "D", 408, 300, 0},
    Case{"MG", "B", 256, 20, 0},     Case{"MG", "C", 512, 20, 0},      Case{"MG", "D", 1024, 50, 0},
};

constexpr int cg_inner = 26; ///< products of an outer iteration

/// Operation counts as the benchmarks themselves report them, by iteration.
double flops_of(const Case& one) {
  const auto n = static_cast<double>(one.points);
  if (one.benchmark == "CG") {
    const auto row = static_cast<double>(one.nonzeros * (one.nonzeros + 1));
    return 2.0 * n * (3.0 + row + 25.0 * (5.0 + row) + 3.0) / cg_inner;
  }
  if (one.benchmark == "BT") {
    return 3478.8 * n * n * n - 17655.7 * n * n + 28023.7 * n;
  }
  if (one.benchmark == "LU") {
    return 1984.77 * n * n * n - 10923.3 * n * n + 27770.9 * n - 144010.0;
  }
  return 58.0 * n * n * n;
}

} // namespace

NasProblem nas_problem(std::string_view benchmark, std::string_view problem_class) {
  for (const Case& one : cases) {
    if (one.benchmark == benchmark && one.problem_class == problem_class) {
      return {one.points, one.benchmark == "CG" ? one.steps * cg_inner : one.steps, one.nonzeros, flops_of(one)};
    }
  }
  throw std::out_of_range("no NAS benchmark " + std::string(benchmark) + " of class " + std::string(problem_class));
}

int NasProgram::wide_side(int size) {
  const int log = static_cast<int>(std::bit_width(static_cast<unsigned>(size))) - 1;
  return 1 << ((log + 1) / 2);
}

std::unique_ptr<Program> make_nas(const NasParameters& parameters) {
  if (parameters.benchmark == "BT") {
    return std::make_unique<NasBt>(parameters);
  }
  if (parameters.benchmark == "CG") {
    return std::make_unique<NasCg>(parameters);
  }
  if (parameters.benchmark == "LU") {
    return std::make_unique<NasLu>(parameters);
  }
  return std::make_unique<NasMg>(parameters);
}

} // namespace contend
