#include "core/random.hpp"

#include <cstddef>

namespace contend {

namespace {

/// log m for m in [1, 2) as 2 artanh((m - 1) / (m + 1)), a series in s^2 <= 1/9, to the last bits of a double.
consteval double logarithm_series(double m) {
  const double s = (m - 1.0) / (m + 1.0);
  const double square = s * s;
  double sum = 0.0;
  for (int k = 35; k >= 1; k -= 2) {
    sum = sum * square + 1.0 / k;
  }
  return 2.0 * s * sum;
}

template <typename Parts>
consteval Parts make_parts() {
  Parts parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double lower = 1.0 + static_cast<double>(i) / static_cast<double>(parts.size());
    parts[i] = {lower, 1.0 / lower, logarithm_series(lower)};
  }
  return parts;
}

} // namespace

constinit const std::array<RandomStream::LogarithmPart, 128> RandomStream::logarithm_parts =
    make_parts<std::array<RandomStream::LogarithmPart, 128>>();

} // namespace contend
