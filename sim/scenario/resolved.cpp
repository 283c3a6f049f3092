#include "scenario/resolved.hpp"

#include "scenario/json_source.hpp"
#include "scenario/layers.hpp"
#include "scenario/reader.hpp"
#include "scenario/value_codec.hpp"

#include <memory>

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

} // namespace scenario

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
