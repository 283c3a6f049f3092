// How much of something has gone that decays exponentially.
#pragma once

namespace contend {

/// 1 - e^-x, for x of 0 and more. std::expm1 may differ in the last bit between C libraries; this one cannot. Relative error
/// below 1e-14.
[[nodiscard]] inline double decayed(double x) {
  if (x > 40.0) {
    return 1.0;
  }
  int doublings = 0;
  for (; x > 0.25; x *= 0.5) {
    ++doublings;
  }
  double term = x;
  double sum = x;
  for (int n = 2; n <= 14; ++n) {
    term *= -x / n;
    sum += term;
  }
  for (; doublings > 0; --doublings) {
    sum *= 2.0 - sum; // 1 - e^-2x
  }
  return sum;
}

} // namespace contend
