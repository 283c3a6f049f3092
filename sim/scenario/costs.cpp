#include "scenario/costs.hpp"

#include "scenario/fields.hpp"
#include "scenario/value_codec.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace contend {

namespace {

using namespace scenario;

constexpr std::string_view scheduler_prefix = "machine.scheduler.";

bool of_scheduler(const Field& field) { return field.path.rfind(scheduler_prefix, 0) == 0; }

bool is_cost(const Field& field) {
  const bool of_machine = field.path.rfind("machine.", 0) == 0 || field.path.rfind("fabric.", 0) == 0;
  return of_machine && (field.kind == Kind::time || field.kind == Kind::rate) && !field.threshold;
}

bool is_program(const PointConfig& point) {
  const Section* const workload = kind_of(root_section("workload"), point);
  return workload != nullptr && workload->of_processes;
}

/// Whether something in the point would be faster if it were lower.
bool is_paid(const Field& field, const PointConfig& point) {
  return (point.placement.shares_cores() || !of_scheduler(field)) && (!field.baseline || is_program(point));
}

} // namespace

std::vector<Cost> costs_of(const PointConfig& point) {
  std::vector<Cost> costs;
  for_each_field(scenario_fields(), [&](const Field& field) {
    if (is_cost(field) && is_paid(field, point)) {
      const Value value = field.get(point);
      // A rate of 0 is one that the machine's profile does not give: nothing uses it.
      const bool free = value == (field.kind == Kind::rate ? field.maximum : field.minimum) || value == Value(0.0);
      costs.push_back({field.path, field.doc, encode(field, value).get<std::string>(), free});
    }
  });
  return costs;
}

bool scale_cost(PointConfig& point, std::string_view path, double factor) {
  const auto fields = fields_by_path(point);
  const auto found = fields.find(path);
  if (found == fields.end() || !is_cost(*found->second)) {
    throw std::invalid_argument("'" + std::string(path) + "' is not a price");
  }
  const Field& field = *found->second;
  if (field.kind == Kind::rate) {
    const double limit = std::get<double>(field.maximum);
    const double wanted = factor > 0.0 ? std::get<double>(field.get(point)) / factor : INFINITY;
    field.set(point, std::min(wanted, limit));
    return wanted > limit;
  }
  const auto time = Duration::picoseconds(std::get<std::int64_t>(field.get(point)));
  const std::int64_t limit = std::get<std::int64_t>(field.minimum);
  const std::int64_t wanted = time.scaled(factor).count();
  const std::int64_t least = field.another_at_zero && time != Duration{} ? std::max<std::int64_t>(limit, 1) : limit;
  field.set(point, std::max(wanted, least));
  return wanted < limit;
}

} // namespace contend
