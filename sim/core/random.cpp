#include "core/random.hpp"

#include <cmath>

namespace contend {

double RandomStream::natural_logarithm(double x) {
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)); log m = 2 artanh((m - 1) / (m + 1)), a series in s^2 <= 0.0295.
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < 0.70710678118654752440) {
    mantissa *= 2.0;
    --exponent;
  }
  const double s = (mantissa - 1.0) / (mantissa + 1.0);
  const double square = s * s;
  double sum = 0.0;
  for (int k = 19; k >= 1; k -= 2) {
    sum = sum * square + 1.0 / k;
  }
  return exponent * 0.69314718055994530942 + 2.0 * s * sum;
}

} // namespace contend
