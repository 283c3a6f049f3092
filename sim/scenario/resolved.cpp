#include "scenario/resolved.hpp"

#include "scenario/json_source.hpp"
#include "scenario/layers.hpp"
#include "scenario/reader.hpp"
#include "scenario/value_codec.hpp"

#include <array>
#include <charconv>
#include <memory>
#include <string>
#include <type_traits>
#include <variant>

namespace contend {

namespace scenario {

using nlohmann::ordered_json;

ordered_json dump_section(const Section& section, const PointConfig& point) {
  ordered_json json = ordered_json::object();
  for (const Field& field : section.fields)
    json[field.name] = encode(field, field.get(point));
  if (const Section* kind = kind_of(section, point))
    json.update(dump_section(*kind, point));
  for (const Section& inner : section.sections)
    json[inner.name] = dump_section(inner, point);
  return json;
}

ordered_json dump_scenario(const PointConfig& base, const std::string& description, const Sweep& sweep) {
  ordered_json document = ordered_json::object();
  document["schema_version"] = schema_version;
  document["description"] = description;
  document.update(dump_section(scenario_fields(), base));
  document["sweep"] = dump_sweep(sweep);
  return document;
}

namespace {

void append_value(std::string& text, const Value& value) {
  std::visit(
      [&](const auto& plain) {
        using Plain = std::decay_t<decltype(plain)>;
        if constexpr (std::is_same_v<Plain, std::string>) {
          text += plain; // one line: control characters are refused
        } else if constexpr (std::is_same_v<Plain, bool>) {
          text += plain ? "true" : "false";
        } else {
          std::array<char, 32> digits{};
          text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), plain).ptr);
        }
      },
      value);
}

/// A line for each value that is not the default: "machine.cache.hit=1200".
void append_lines(std::string& text, const Section& section, const PointConfig& point) {
  static const PointConfig defaults;
  for (const Field& field : section.fields) {
    const Value value = field.get(point);
    if (field.path == "name" || field.path == "run.replications" || value == field.get(defaults))
      continue;
    text += field.path;
    text += '=';
    append_value(text, value);
    text += '\n';
  }
  if (const Section* kind = kind_of(section, point))
    append_lines(text, *kind, point);
  for (const Section& inner : section.sections)
    append_lines(text, inner, point);
}

} // namespace

} // namespace scenario

std::string identity_of(const PointConfig& point) {
  std::string text;
  text.reserve(10'000);
  scenario::append_lines(text, scenario::scenario_fields(), point);
  return text;
}

nlohmann::ordered_json to_json(const PointConfig& point) {
  return scenario::dump_section(scenario::scenario_fields(), point);
}

PointConfig point_from_json(const nlohmann::ordered_json& json, const KnownNames& names) {
  using namespace scenario;
  const auto source = std::make_shared<const Source>(Source{"point", "point", {}, false});
  const Node tree = to_node(json, source);
  Diagnostics diagnostics;
  Reading reading{names, diagnostics, Strictness::complete, nullptr};
  PointConfig point;
  read_section(scenario_fields(), &tree, tree, "", {}, reading, point);
  diagnostics.throw_if_any();
  return point;
}

} // namespace contend
