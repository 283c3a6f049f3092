// Summaries of many values.
#pragma once

#include "support/json.hpp"

#include <map>
#include <string>
#include <vector>

namespace contend::native {

/// Quantile by linear interpolation between the two nearest ranks; NaN without values. `sorted` must be.
[[nodiscard]] double quantile(const std::vector<double>& sorted, double q);

[[nodiscard]] double median(std::vector<double> values);

/// Of the values of each name.
[[nodiscard]] std::map<std::string, double> medians(const std::map<std::string, std::vector<double>>& values);

/// {"count", "min", "p05", "p25", "median", "p75", "p95", "p99", "max", "mean"}; only "count" if there is nothing
[[nodiscard]] Json distribution(std::vector<double> values);

/// Jain's index: 1 where all values are equal, 1/n where one has everything; NaN without values or with zeros only.
[[nodiscard]] double jain_index(const std::vector<double>& values);

} // namespace contend::native
