// Estimates with their uncertainty, for comparisons with exact results.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

namespace contend::test {

struct Estimate {
  double mean = 0;
  double standard_error = 0;

  /// Distance from the exact value in standard errors.
  [[nodiscard]] double z(double exact) const { return (mean - exact) / standard_error; }
  [[nodiscard]] double relative_error() const { return standard_error / std::abs(mean); }
};

/// Mean of independent values.
inline Estimate estimate(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  const double mean = sum / n;
  double squares = 0;
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
  }
  return {mean, std::sqrt(squares / (n - 1) / n)};
}

/// Method of batch means: successive values of a queue are correlated, means of long batches hardly are.
class BatchMeans {
public:
  explicit BatchMeans(std::size_t batch_size) : batch_size_(batch_size) {}

  void add(double value) {
    sum_ += value;
    if (++in_batch_ == batch_size_) {
      batches_.push_back(sum_ / static_cast<double>(batch_size_));
      sum_ = 0;
      in_batch_ = 0;
    }
  }
  /// Over all complete batches.
  [[nodiscard]] Estimate result() const { return estimate(batches_); }

private:
  std::size_t batch_size_;
  std::size_t in_batch_ = 0;
  double sum_ = 0;
  std::vector<double> batches_;
};

/// Kolmogorov-Smirnov statistic sqrt(n) * sup |F_n - F|. Its asymptotic distribution exceeds 1.95 with probability 0.001.
inline double kolmogorov_smirnov(std::vector<double> sample, const std::function<double(double)>& distribution) {
  std::sort(sample.begin(), sample.end());
  const auto n = static_cast<double>(sample.size());
  double largest = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double exact = distribution(sample[i]);
    largest = std::max({largest, exact - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - exact});
  }
  return largest * std::sqrt(n);
}

} // namespace contend::test
