#include "core/random.hpp"

#include <bit>

namespace contend {

double RandomStream::natural_logarithm(double x) {
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)); log m = 2 artanh((m - 1) / (m + 1)), a series in s^2 <= 0.0295.
  constexpr std::uint64_t fraction = (std::uint64_t{1} << 52) - 1;
  const auto bits = std::bit_cast<std::uint64_t>(x); // x is positive and normal: 1 - uniform()
  int exponent = static_cast<int>(bits >> 52) - 1023;
  auto mantissa = std::bit_cast<double>((bits & fraction) | std::bit_cast<std::uint64_t>(1.0));
  if (mantissa > 1.41421356237309504880) {
    mantissa *= 0.5;
    ++exponent;
  }
  const double s = (mantissa - 1.0) / (mantissa + 1.0);
  const double square = s * s;
  double sum = 0.0;
  for (int k = 13; k >= 1; k -= 2) {
    sum = sum * square + 1.0 / k;
  }
  return exponent * 0.69314718055994530942 + 2.0 * s * sum;
}

} // namespace contend
