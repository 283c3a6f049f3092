#include "support/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace contend::native {

double quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double fraction = position - static_cast<double>(below);
  return sorted[below] + fraction * (sorted[above] - sorted[below]);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

std::map<std::string, double> medians(const std::map<std::string, std::vector<double>>& values) {
  std::map<std::string, double> result;
  for (const auto& [name, own] : values) {
    result[name] = median(own);
  }
  return result;
}

Json distribution(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  if (values.empty()) {
    return Json::object().set("count", 0);
  }
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  Json result = Json::object();
  result.set("count", static_cast<std::int64_t>(values.size()))
      .set("min", quantile(values, 0))
      .set("p05", quantile(values, 0.05))
      .set("p25", quantile(values, 0.25))
      .set("median", quantile(values, 0.5))
      .set("p75", quantile(values, 0.75))
      .set("p95", quantile(values, 0.95))
      .set("p99", quantile(values, 0.99))
      .set("max", quantile(values, 1))
      .set("mean", sum / static_cast<double>(values.size()));
  return result;
}

double jain_index(const std::vector<double>& values) {
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  return sum * sum / (static_cast<double>(values.size()) * squares);
}

} // namespace contend::native
