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

AxisValue value_of(const Field& field, const Value& value) {
  const nlohmann::ordered_json json = encode(field, value);
  return {json, json, [&field, value](PointConfig& point) { field.set(point, value); }};
}

/// Whether some point has a value at the path.
bool of_another_kind(const std::string& path) {
  bool found = false;
  for_each_field(scenario_fields(), [&](const Field& field) { found = found || field.path == path; });
  return found;
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
  Axis axis{field.path, field.short_name, false, {}, &node, pointer};
  for (const Value& value : values)
    axis.values.push_back(value_of(field, value));
  return axis;
}

Axis design_axis(const std::vector<NamedDesign>& designs, const Node& node, Reading& reading) {
  const std::string pointer = child_pointer("/sweep", preset_path);
  Axis axis{preset_path, "preset", true, {}, &node, pointer};
  for (const NamedDesign& design : designs) {
    PointConfig point;
    read_section(root_section("library"), &design.library, node, child_pointer(pointer, design.name), {}, reading,
                 point);
    axis.values.push_back({design.name, dump_section(root_section("library"), point),
                           [library = point.library](PointConfig& target) { target.library = library; }});
  }
  return axis;
}

/// The field that a path of the sweep stands for; nothing and a diagnostic when there is none to be swept.
const Field* swept_field(const std::map<std::string, const Field*, std::less<>>& fields, const std::string& path,
                         const Node& node, const std::string& pointer, Diagnostics& diagnostics) {
  const auto known = fields.find(path);
  if (known == fields.end()) {
    std::vector<std::string> inner;
    for (const auto& [other, field] : fields) {
      if (other.starts_with(path + ".") && !field->selector)
        inner.push_back(other);
    }
    if (!inner.empty()) {
      diagnostics.add(at(node, pointer, excerpt(path) + " is a section; allowed: one of its values, " + listed(inner)));
      return nullptr;
    }
    std::vector<std::string> paths{preset_path};
    for (const auto& [other, field] : fields)
      paths.push_back(other);
    std::string near = hint(path, paths);
    std::string named; // results have it under this name
    for (const auto& [other, field] : fields) {
      if (!field->selector && (field->name == path || field->short_name == path))
        named += (named.empty() ? "'" : " or '") + other + "'";
    }
    if (!named.empty())
      near = "; did you mean " + named + "?";
    diagnostics.add(
        at(node, pointer,
           "unknown path " + excerpt(path) + (of_another_kind(path) ? " for the kind of this scenario" : "") +
               (near.empty() ? "; allowed: the dotted path of a value, such as library.instances.count" : near)));
    return nullptr;
  }
  if (known->second->selector) {
    diagnostics.add(at(node, pointer, "cannot be swept: each kind has its own values; allowed: any other value"));
    return nullptr;
  }
  return known->second;
}

/// The design that a point of a list names: a text, or an object with the design under its name. Empty: neither.
std::string design_name(const Node& node) {
  if (node.is_string())
    return node.text;
  return node.is_object() && node.items.size() == 1 ? node.keys.front() : std::string();
}

/// One path of a list of points as an axis with a value for each point. A value that is wrong is reported once.
Axis listed_axis(const std::string& path, const Node& list, const Field* field, const std::vector<NamedDesign>& designs,
                 Reading& reading) {
  if (path == preset_path) {
    const Axis all = design_axis(designs, list, reading);
    Axis axis{preset_path, "preset", true, {}, &list, "/sweep"};
    for (const Node& point : list.items) {
      const std::string name = design_name(*point.find(path));
      const auto design = std::find_if(designs.begin(), designs.end(), [&](const auto& d) { return d.name == name; });
      axis.values.push_back(all.values[static_cast<std::size_t>(design - designs.begin())]);
    }
    return axis;
  }
  Axis axis{path, field->short_name, false, {}, &list, "/sweep"};
  std::set<std::string> wrong;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const std::string place = child_pointer("/sweep/" + std::to_string(i), path);
    const Node& given = *list.items[i].find(path);
    Diagnostics unheeded;
    const bool again = wrong.contains(found(given));
    Diagnostics& diagnostics = again ? unheeded : reading.diagnostics;
    if (const auto value = decode(*field, given, place, reading.names, diagnostics))
      axis.values.push_back(value_of(*field, *value));
    else
      wrong.insert(found(given));
  }
  return axis;
}

/// Whether the points of a list are objects with the same keys.
bool check_list(const Node& list, std::size_t max_points, Diagnostics& diagnostics) {
  if (list.items.empty()) {
    diagnostics.add(at(list, "/sweep", "found an empty list; allowed: at least one point"));
    return false;
  }
  if (list.items.size() > max_points) {
    diagnostics.add(at(list, "/sweep", too_many(max_points)));
    return false;
  }
  const Node& first = list.items.front();
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const Node& point = list.items[i];
    const std::string place = "/sweep/" + std::to_string(i);
    if (!point.is_object() || point.keys.empty()) {
      const std::string what = point.is_object() ? "an empty object" : found(point);
      diagnostics.add(at(point, place, "found " + what + "; allowed: an object of path: value"));
      return false;
    }
    const auto has_all = [](const Node& one, const Node& other) {
      return std::all_of(one.keys.begin(), one.keys.end(), [&](const auto& key) { return other.find(key) != nullptr; });
    };
    if (!has_all(first, point) || !has_all(point, first)) {
      diagnostics.add(at(point, place, "has other values than the first point; allowed: " + listed(first.keys)));
      return false;
    }
  }
  return true;
}

/// A point that is there twice would be simulated and shown twice.
void check_once(const Node& list, const std::vector<Axis>& axes, Diagnostics& diagnostics) {
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    std::string values;
    for (const Axis& axis : axes)
      values += axis.values[i].parameter.dump() + "\n";
    if (const auto [first, is_new] = seen.emplace(values, i); !is_new)
      diagnostics.add(
          at(list.items[i], "/sweep/" + std::to_string(i),
             "found the point of /sweep/" + std::to_string(first->second) + " again; allowed: each point once"));
  }
}

Sweep read_list_of_points(const Node& list, const PointConfig& base, const std::vector<NamedDesign>& designs,
                          std::size_t max_points, Reading& reading) {
  Sweep sweep{{}, true};
  if (!check_list(list, max_points, reading.diagnostics))
    return sweep;
  const auto fields = fields_by_path(base);
  const Node& first = list.items.front();
  for (std::size_t i = 0; i < first.keys.size(); ++i) {
    const std::string& path = first.keys[i];
    const Field* field = nullptr;
    if (path != preset_path) {
      field = swept_field(fields, path, first.items[i], child_pointer("/sweep/0", path), reading.diagnostics);
      if (field == nullptr)
        continue;
    }
    sweep.axes.push_back(listed_axis(path, list, field, designs, reading));
  }
  const bool is_whole = std::all_of(sweep.axes.begin(), sweep.axes.end(),
                                    [&](const Axis& axis) { return axis.values.size() == list.items.size(); });
  // Points that differ in an unknown path only are no repeated ones.
  if (is_whole && sweep.axes.size() == first.keys.size())
    check_once(list, sweep.axes, reading.diagnostics);
  return sweep;
}

Sweep read_axes(const Node& node, const PointConfig& base, const std::vector<NamedDesign>& designs,
                std::size_t max_points, Reading& reading) {
  Diagnostics& diagnostics = reading.diagnostics;
  Sweep sweep;
  const auto fields = fields_by_path(base);
  std::size_t points = 1;
  bool too_large = false;
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string& path = node.keys[i];
    const Node& axis = node.items[i];
    if (path == preset_path) {
      sweep.axes.push_back(design_axis(designs, axis, reading));
    } else if (const Field* field = swept_field(fields, path, axis, child_pointer("/sweep", path), diagnostics)) {
      sweep.axes.push_back(field_axis(*field, axis, max_points, reading.names, diagnostics));
    } else {
      continue;
    }
    const std::size_t factor = std::max<std::size_t>(1, sweep.axes.back().values.size());
    too_large = too_large || factor > max_points / points;
    points = too_large ? points : points * factor;
  }
  if (too_large)
    diagnostics.add(at(node, "/sweep", too_many(max_points)));
  return sweep;
}

} // namespace

bool has_ranges(Kind kind) { return kind == Kind::count || kind == Kind::time || kind == Kind::size; }

std::optional<Node> axis_of_designs(const Node* sweep) {
  if (sweep == nullptr)
    return std::nullopt;
  if (sweep->kind != Node::Kind::array) {
    const Node* axis = sweep->find(preset_path);
    return axis == nullptr ? std::nullopt : std::optional(*axis);
  }
  Node axis = Node::object(sweep->source, sweep->line);
  for (std::size_t i = 0; i < sweep->items.size(); ++i) {
    const Node* given = sweep->items[i].is_object() ? sweep->items[i].find(preset_path) : nullptr;
    if (given == nullptr)
      continue; // reading the list says what is wrong
    const std::string place = child_pointer("/sweep/" + std::to_string(i), preset_path);
    const std::string name = design_name(*given);
    const Node* same = axis.find(name);
    if (name.empty() || (same != nullptr && given->is_object()))
      throw ScenarioError(
          {at(*given, place,
              name.empty() ? "found " + found(*given) +
                                 "; allowed: the name of a preset or of a design of an earlier point, or an "
                                 "object with one design under its name"
                           : "the design " + excerpt(name) + " is given again; allowed: its name")});
    if (same != nullptr)
      continue;
    Node design = given->is_object() ? given->items.front() : Node::object(given->source, given->line);
    if (given->is_string())
      design.set("preset", *given);
    axis.set(name, std::move(design));
  }
  return axis.keys.empty() ? std::nullopt : std::optional(std::move(axis));
}

Sweep read_sweep(const Node* sweep, const PointConfig& base, const std::vector<NamedDesign>& designs,
                 std::size_t max_points, Reading& reading) {
  if (sweep == nullptr)
    return {};
  Sweep result;
  if (sweep->kind == Node::Kind::array) {
    result = read_list_of_points(*sweep, base, designs, max_points, reading);
  } else if (sweep->is_object()) {
    result = read_axes(*sweep, base, designs, max_points, reading);
  } else {
    reading.diagnostics.add(at(*sweep, "/sweep",
                               "found " + found(*sweep) +
                                   "; allowed: an object of path: values, or a list of points, each an "
                                   "object of path: value"));
  }
  std::map<std::string, int> namesakes;
  for (const Axis& axis : result.axes)
    ++namesakes[axis.name];
  for (Axis& axis : result.axes) {
    if (namesakes[axis.name] > 1)
      axis.name = axis.path;
  }
  return result;
}

std::vector<ResolvedPoint> expand(const PointConfig& base, const Sweep& sweep) {
  const std::vector<Axis>& axes = sweep.axes;
  std::size_t count = 1;
  for (const Axis& axis : axes)
    count = sweep.listed ? axis.values.size() : count * axis.values.size();
  std::vector<ResolvedPoint> points;
  points.reserve(count);
  std::vector<const AxisValue*> chosen(axes.size());
  for (std::size_t number = 0; number < count; ++number) {
    ResolvedPoint point{nlohmann::ordered_json::object(), base};
    std::size_t rest = count;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      rest /= sweep.listed ? 1 : axes[i].values.size();
      chosen[i] = &axes[i].values[sweep.listed ? number : number / rest % axes[i].values.size()];
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

nlohmann::ordered_json dump_sweep(const Sweep& sweep) {
  using nlohmann::ordered_json;
  if (!sweep.listed) {
    ordered_json axes = ordered_json::object();
    for (const Axis& axis : sweep.axes) {
      ordered_json& values = axes[axis.path];
      values = axis.whole_designs ? ordered_json::object() : ordered_json::array();
      for (const AxisValue& value : axis.values) {
        if (axis.whole_designs)
          values[value.parameter.get<std::string>()] = value.written;
        else
          values.push_back(value.written);
      }
    }
    return axes;
  }
  ordered_json points = ordered_json::array();
  std::set<std::string> written; // designs that an earlier point gives in full
  for (std::size_t i = 0; i < sweep.axes.front().values.size(); ++i) {
    ordered_json point = ordered_json::object();
    for (const Axis& axis : sweep.axes) {
      const AxisValue& value = axis.values[i];
      if (axis.whole_designs && written.insert(value.parameter.get<std::string>()).second)
        point[axis.path][value.parameter.get<std::string>()] = value.written;
      else
        point[axis.path] = value.parameter;
    }
    points.push_back(std::move(point));
  }
  return points;
}

} // namespace contend::scenario
