#include "scenario/sweep.hpp"

#include "scenario/reader.hpp"
#include "scenario/resolved.hpp"
#include "scenario/value_codec.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace contend::scenario {

namespace {

constexpr const char* axis_forms = R"(a list of values, or {"from": ..., "to": ..., "step": ...})";

std::string too_many(std::size_t max_points) {
  return "the sweep has more than " + std::to_string(max_points) + " points; allowed: at most that many";
}

/// from, from + step, ... up to `to`. All bounds of fields are below 2^62, so that differences fit.
void read_range(const Field& field, const Node& node, const std::string& pointer, std::size_t max_points,
                const KnownNames& names, Diagnostics& diagnostics, std::vector<Value>& values) {
  if (!has_ranges(field.kind)) {
    diagnostics.add(at(node, pointer, "found an object; allowed: a list of values, each " + allowed(field, names)));
    return;
  }
  refuse_unknown_keys(node, pointer, {"from", "to", "step"}, diagnostics);
  const auto number = [&](const char* key, const Field& rule) -> std::optional<std::int64_t> {
    const Node* given = node.find(key);
    if (given == nullptr) {
      diagnostics.add(at(node, child_pointer(pointer, key), "is missing; allowed: " + allowed(rule, names)));
      return std::nullopt;
    }
    const auto value = decode(rule, *given, child_pointer(pointer, key), names, diagnostics);
    return value ? std::optional(std::get<std::int64_t>(*value)) : std::nullopt;
  };
  Field step_rule = field;
  step_rule.minimum = std::int64_t{1};
  const auto from = number("from", field);
  const auto to = number("to", field);
  const auto step = number("step", step_rule);
  if (!from || !to || !step)
    return;
  if (*from > *to) {
    diagnostics.add(at(node, pointer, R"(the range is empty: "from" is above "to")"));
    return;
  }
  if (static_cast<std::uint64_t>((*to - *from) / *step) >= max_points) {
    diagnostics.add(at(node, pointer, too_many(max_points)));
    return;
  }
  for (std::int64_t value = *from; value <= *to; value += *step)
    values.emplace_back(value);
}

void read_list(const Field& field, const Node& node, const std::string& pointer, std::size_t max_points,
               const KnownNames& names, Diagnostics& diagnostics, std::vector<Value>& values) {
  if (node.items.empty())
    diagnostics.add(at(node, pointer, "found an empty list; allowed: at least one value"));
  if (node.items.size() > max_points) {
    diagnostics.add(at(node, pointer, too_many(max_points)));
    return;
  }
  std::set<Value> seen;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const std::string place = pointer + "/" + std::to_string(i);
    const auto value = decode(field, node.items[i], place, names, diagnostics);
    if (!value)
      continue;
    if (!seen.insert(*value).second)
      diagnostics.add(at(node.items[i], place, "found " + found(node.items[i]) + " again; allowed: each value once"));
    values.push_back(*value);
  }
}

Axis field_axis(const Field& field, const Node& node, std::size_t max_points, const KnownNames& names,
                Diagnostics& diagnostics) {
  const std::string pointer = child_pointer("/sweep", field.path);
  std::vector<Value> values;
  if (node.kind == Node::Kind::array)
    read_list(field, node, pointer, max_points, names, diagnostics, values);
  else if (node.is_object())
    read_range(field, node, pointer, max_points, names, diagnostics, values);
  else
    diagnostics.add(at(node, pointer, "found " + found(node) + "; allowed: " + axis_forms));
  Axis axis{field.path, field.short_name, false, {}, &node};
  for (const Value& value : values) {
    const nlohmann::ordered_json json = encode(field, value);
    axis.values.push_back({json, json, [&field, value](PointConfig& point) { field.set(point, value); }});
  }
  return axis;
}

Axis design_axis(const std::vector<NamedDesign>& designs, const Node& node, Reading& reading) {
  const std::string pointer = child_pointer("/sweep", preset_path);
  Axis axis{preset_path, "preset", true, {}, &node};
  for (const NamedDesign& design : designs) {
    PointConfig point;
    read_section(root_section("library"), &design.library, node, child_pointer(pointer, design.name), {}, reading,
                 point);
    axis.values.push_back({design.name, dump_section(root_section("library"), point),
                           [library = point.library](PointConfig& target) { target.library = library; }});
  }
  return axis;
}

} // namespace

bool has_ranges(Kind kind) { return kind == Kind::count || kind == Kind::time || kind == Kind::size; }

std::vector<Axis> read_sweep(const Node* sweep, const std::vector<NamedDesign>& designs, std::size_t max_points,
                             Reading& reading) {
  Diagnostics& diagnostics = reading.diagnostics;
  std::vector<Axis> axes;
  if (sweep == nullptr)
    return axes;
  if (!sweep->is_object()) {
    diagnostics.add(at(*sweep, "/sweep", "found " + found(*sweep) + "; allowed: an object of path: values"));
    return axes;
  }
  std::vector<std::string> paths{preset_path};
  for (const auto& [path, field] : fields_by_path())
    paths.push_back(path);
  std::size_t points = 1;
  bool too_large = false;
  for (std::size_t i = 0; i < sweep->keys.size(); ++i) {
    const std::string& path = sweep->keys[i];
    const Node& node = sweep->items[i];
    const auto known = fields_by_path().find(path);
    if (path == preset_path) {
      axes.push_back(design_axis(designs, node, reading));
    } else if (known != fields_by_path().end()) {
      axes.push_back(field_axis(*known->second, node, max_points, reading.names, diagnostics));
    } else {
      const std::string near = hint(path, paths);
      diagnostics.add(at(node, child_pointer("/sweep", path),
                         "unknown path " + excerpt(path) +
                             (near.empty() ? "; allowed: the dotted path of a value, such as workload.pairs" : near)));
      continue;
    }
    const std::size_t factor = std::max<std::size_t>(1, axes.back().values.size());
    too_large = too_large || factor > max_points / points;
    points = too_large ? points : points * factor;
  }
  if (too_large)
    diagnostics.add(at(*sweep, "/sweep", too_many(max_points)));
  std::map<std::string, int> namesakes;
  for (const Axis& axis : axes)
    ++namesakes[axis.name];
  for (Axis& axis : axes) {
    if (namesakes[axis.name] > 1)
      axis.name = axis.path;
  }
  return axes;
}

std::vector<ResolvedPoint> expand(const PointConfig& base, const std::vector<Axis>& axes) {
  std::size_t count = 1;
  for (const Axis& axis : axes)
    count *= axis.values.size();
  std::vector<ResolvedPoint> points;
  points.reserve(count);
  std::vector<const AxisValue*> chosen(axes.size());
  for (std::size_t number = 0; number < count; ++number) {
    ResolvedPoint point{nlohmann::ordered_json::object(), base};
    std::size_t rest = count;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      rest /= axes[i].values.size();
      chosen[i] = &axes[i].values[number / rest % axes[i].values.size()];
      point.parameters[axes[i].name] = chosen[i]->parameter;
      if (axes[i].whole_designs)
        chosen[i]->apply(point.config);
    }
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (!axes[i].whole_designs)
        chosen[i]->apply(point.config);
    }
    points.push_back(std::move(point));
  }
  return points;
}

} // namespace contend::scenario
