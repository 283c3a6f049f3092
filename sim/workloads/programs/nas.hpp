// Skeletons of NAS parallel benchmarks: who computes how much on which data, and who sends what to whom.
#pragma once

#include "workloads/programs/program.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace contend {

inline constexpr double double_bytes = 8.0; ///< a floating-point number of the benchmarks

/// Size of a benchmark's problem, from the benchmarks' specification (NPB 3.3).
struct NasProblem {
  int points = 0;   ///< in each direction; CG: rows of the matrix
  int steps = 0;    ///< iterations of the whole benchmark, as the skeleton counts them
  int nonzeros = 0; ///< CG: parameter `nonzer`
  double flops = 0; ///< floating-point operations of one of these iterations, all processes together
};

/// Throws std::out_of_range for a benchmark or class that is not known.
[[nodiscard]] NasProblem nas_problem(std::string_view benchmark, std::string_view problem_class);

/// What the skeletons have in common.
class NasProgram : public Program {
public:
  explicit NasProgram(const NasParameters& parameters)
      : Program(parameters), problem_(nas_problem(parameters.benchmark, parameters.problem_class)),
        parameters_(parameters) {}

protected:
  /// Arithmetic of one process, data in L1.
  [[nodiscard]] Duration arithmetic(double flops) const { return Duration::seconds(flops / parameters_.flops); }
  /// Going through `bytes` of a process's own data, which comes again only after the other processes of its core have
  /// gone through theirs.
  [[nodiscard]] Duration first_pass(const CoProcess& self, double bytes) const {
    return self.memory().stream(bytes, static_cast<std::int64_t>(bytes) * parameters_.processes_per_os_process);
  }
  /// Going through them once more, nobody else having run.
  [[nodiscard]] static Duration next_pass(const CoProcess& self, double bytes) {
    return self.memory().stream(bytes, static_cast<std::int64_t>(bytes));
  }
  /// The larger share of the processes when they form a grid of powers of two: 2^ceil(log2(size) / 2).
  [[nodiscard]] static int wide_side(int size);

  NasProblem problem_;

private:
  NasParameters parameters_;
};

/// Throws std::out_of_range for a benchmark that is not known.
[[nodiscard]] std::unique_ptr<Program> make_nas(const NasParameters& parameters);

} // namespace contend
