#include "scenario/schema.hpp"

#include "scenario/fields.hpp"
#include "scenario/layers.hpp"
#include "scenario/preset.hpp"
#include "scenario/profile.hpp"
#include "scenario/reader.hpp"
#include "scenario/sweep.hpp"
#include "scenario/units.hpp"
#include "scenario/value_codec.hpp"

#include <algorithm>

namespace contend {

namespace {

using namespace scenario;
using nlohmann::ordered_json;

ordered_json object(const std::string& description) {
  return {{"type", "object"},
          {"description", description},
          {"additionalProperties", false},
          {"properties", ordered_json::object()}};
}

ordered_json text_schema(std::size_t most) { return {{"type", "string"}, {"minLength", 1}, {"maxLength", most}}; }

ordered_json reference_to(const std::string& definition) { return {{"$ref", "#/$defs/" + definition}}; }

/// Name of the definition that all quantities of a kind share, or "".
std::string shared_definition(Kind kind) {
  switch (kind) {
  case Kind::time:
    return "time";
  case Kind::size:
    return "size";
  case Kind::rate:
    return "rate";
  default:
    return {};
  }
}

/// The plain form of a value, without description and default.
ordered_json plain(const Field& field, const KnownNames& names) {
  const auto bounded = [&](const char* type) -> ordered_json {
    return {{"type", type}, {"minimum", encode(field, field.minimum)}, {"maximum", encode(field, field.maximum)}};
  };
  switch (field.kind) {
  case Kind::flag:
    return {{"type", "boolean"}};
  case Kind::count:
  case Kind::seed:
    return bounded("integer");
  case Kind::real:
    return bounded("number");
  case Kind::time:
  case Kind::size:
  case Kind::rate:
    return reference_to(shared_definition(field.kind));
  case Kind::text:
    return {{"type", "string"}, {"maxLength", field.max_length}, {"pattern", R"(^[^\u0000-\u001f\u007f]*$)"}};
  case Kind::choice:
    return {{"enum", field.names(names)}};
  }
  return {};
}

enum class Form { scenario, profile };

/// A value with its annotations; in a profile they are obligatory.
ordered_json annotated(const ordered_json& value, Form form) {
  ordered_json schema = object("a value with where it comes from");
  ordered_json& properties = schema["properties"];
  for (const std::string& key : annotation_keys())
    properties[key] = text_schema(1000);
  properties["value"] = value;
  properties["basis"] = {{"enum", annotation_bases()}};
  properties["range"] = {{"type", "array"}, {"items", value}, {"minItems", 2}, {"maxItems", 2}};
  if (form == Form::profile)
    schema["required"] = {"value", "source", "uncertainty", "basis"};
  else
    schema["required"] = ordered_json::array({"value"});
  return schema;
}

ordered_json measured(const ordered_json& value, Form form) {
  if (form == Form::profile)
    return annotated(value, form);
  return {{"anyOf", {value, annotated(value, form)}}};
}

/// The quantities, and the quantities as measured values.
ordered_json definitions(Form form) {
  ordered_json all;
  for (const Dimension dimension : {Dimension::time, Dimension::size, Dimension::rate}) {
    const char* name = dimension == Dimension::time ? "time" : dimension == Dimension::size ? "size" : "rate";
    all[name] = {{"type", "string"}, {"pattern", unit_pattern(dimension)}};
    all[std::string("measured_") + name] = measured(reference_to(name), form);
  }
  return all;
}

ordered_json field_schema(const Field& field, const KnownNames& names, Form form) {
  ordered_json schema;
  if (!field.measured)
    schema = plain(field, names);
  else if (const std::string shared = shared_definition(field.kind); !shared.empty())
    schema = reference_to("measured_" + shared);
  else
    schema = measured(plain(field, names), form);
  schema["description"] = field.doc + " (" + allowed(field, names) + ")";
  if (!field.required)
    schema["default"] = encode(field, field.get(PointConfig{}));
  return schema;
}

/// Names of what must be given in a section.
ordered_json required_keys(const Section& section) {
  ordered_json keys = ordered_json::array();
  for (const Field& field : section.fields) {
    if (field.required)
      keys.push_back(field.name);
  }
  for (const Section& inner : section.sections) {
    if (inner.required() && !inner.of_network)
      keys.push_back(inner.name);
  }
  return keys;
}

ordered_json kinds_schema(const Section& section, const KnownNames& names, Form form);

/// The properties of a section; nothing is required, because another layer may give it.
ordered_json section_schema(const Section& section, const KnownNames& names, Form form) {
  if (!section.kinds.empty())
    return kinds_schema(section, names, form);
  ordered_json schema = object(section.doc);
  for (const Field& field : section.fields)
    schema["properties"][field.name] = field_schema(field, names, form);
  for (const Section& inner : section.sections)
    schema["properties"][inner.name] = section_schema(inner, names, form);
  if (section.optional && form == Form::profile)
    schema["required"] = required_keys(section); // all of it or nothing
  return schema;
}

const Field& selector_of(const Section& section) {
  return *std::find_if(section.fields.begin(), section.fields.end(), [](const Field& field) { return field.selector; });
}

std::string kind_definition(const Section& section, const std::string& kind) { return section.name + "_" + kind; }

/// One definition per kind of a section: its values and no others.
ordered_json kind_definitions(const Section& section, const KnownNames& names, Form form) {
  ordered_json all = ordered_json::object();
  for (const std::string& name : selector_of(section).names(names)) {
    Section values = section;
    values.kinds.clear();
    for (const Section& kind : section.kinds) {
      if (kind.name == name) {
        values.doc = kind.doc;
        values.fields.insert(values.fields.end(), kind.fields.begin(), kind.fields.end());
      }
    }
    all[kind_definition(section, name)] = section_schema(values, names, form);
  }
  return all;
}

/// A section that comes in kinds: the selector says whose values are allowed. Where another layer may give the selector,
/// they may be those of any kind.
ordered_json kinds_schema(const Section& section, const KnownNames& names, Form form) {
  const Field& selector = selector_of(section);
  const ordered_json given = {{"required", ordered_json::array({selector.name})}};
  ordered_json schema = {{"type", "object"}, {"description", section.doc}};
  schema["properties"][selector.name] = field_schema(selector, names, form);
  ordered_json cases = ordered_json::array();
  ordered_json any_kind = ordered_json::array();
  for (const std::string& name : selector.names(names)) {
    ordered_json is_kind = given;
    is_kind["properties"][selector.name] = {{"const", name}};
    any_kind.push_back(reference_to(kind_definition(section, name)));
    cases.push_back({{"if", std::move(is_kind)}, {"then", any_kind.back()}});
  }
  cases.push_back({{"if", {{"not", given}}}, {"then", {{"anyOf", std::move(any_kind)}}}});
  schema["allOf"] = std::move(cases);
  return schema;
}

/// What must be there, level by level, when no other layer gives it.
ordered_json completeness(const Section& section) {
  ordered_json schema = {{"required", required_keys(section)}};
  for (const Section& inner : section.sections) {
    if (inner.required())
      schema["properties"][inner.name] = completeness(inner);
  }
  return schema;
}

/// Names of the sections that only a workload without network can do without.
ordered_json network_keys(const Section& section) {
  ordered_json keys = ordered_json::array();
  for (const Section& inner : section.sections) {
    if (inner.of_network)
      keys.push_back(inner.name);
  }
  return keys;
}

/// The workload of a scenario is of a kind without network.
ordered_json without_network() {
  ordered_json kinds = ordered_json::array();
  for (const Section& kind : root_section("workload").kinds) {
    if (kind.without_network)
      kinds.push_back(kind.name);
  }
  ordered_json workload = {{"required", ordered_json::array({"kind"})}};
  workload["properties"]["kind"] = {{"enum", std::move(kinds)}};
  ordered_json schema = {{"required", ordered_json::array({"workload"})}};
  schema["properties"]["workload"] = std::move(workload);
  return schema;
}

ordered_json fabric_schema(const KnownNames& names) {
  ordered_json by_values = section_schema(root_section("fabric"), names, Form::scenario);
  by_values["required"] = required_keys(root_section("fabric"));
  ordered_json by_platform = object("the route between two hosts of a platform file");
  by_platform["properties"]["platform"] = {
      {"type", "string"}, {"minLength", 1}, {"description", "path of a SimGrid platform, relative to this file"}};
  by_platform["properties"]["from"] = {{"type", "string"}, {"minLength", 1}, {"description", "sending host"}};
  by_platform["properties"]["to"] = {{"type", "string"}, {"minLength", 1}, {"description", "receiving host"}};
  for (const Field& field : root_section("fabric").fields) {
    if (!field.required)
      by_platform["properties"][field.name] = by_values["properties"][field.name];
  }
  by_platform["required"] = {"platform", "from", "to"};
  return {{"description", root_section("fabric").doc}, {"oneOf", {by_values, by_platform}}};
}

ordered_json axis_schema(const Field& field, const KnownNames& names) {
  ordered_json list = {{"type", "array"}, {"items", plain(field, names)}, {"minItems", 1}, {"uniqueItems", true}};
  if (!has_ranges(field.kind))
    return list;
  ordered_json range = object("from, from + step, ... up to to");
  for (const char* key : {"from", "to", "step"})
    range["properties"][key] = plain(field, names);
  if (field.kind == Kind::count)
    range["properties"]["step"]["minimum"] = 1;
  range["required"] = {"from", "to", "step"};
  return {{"anyOf", {list, range}}};
}

/// Two kinds may have different rules for the same path.
void add_axis(ordered_json& axes, const Field& field, const KnownNames& names) {
  ordered_json axis = axis_schema(field, names);
  const auto other = axes.find(field.path);
  if (other == axes.end())
    axes[field.path] = std::move(axis);
  else if (*other != axis)
    *other = ordered_json{{"anyOf", {*other, std::move(axis)}}};
}

ordered_json designs_schema(const ordered_json& library) {
  return {{"description", "whole designs: names of presets, or library sections by name, each upon the scenario's own"},
          {"anyOf",
           {{{"type", "array"},
             {"items", {{"type", "string"}, {"minLength", 1}, {"maxLength", 100}}},
             {"minItems", 1},
             {"maxItems", 1000},
             {"uniqueItems", true}},
            {{"type", "object"}, {"minProperties", 1}, {"maxProperties", 1000}, {"additionalProperties", library}}}}};
}

ordered_json header(const std::string& title) {
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}};
}

} // namespace

ordered_json scenario_schema(const KnownNames& names) {
  const Section& root = scenario_fields();
  ordered_json schema = header("contend scenario");
  schema.update(object(root.doc));
  ordered_json& properties = schema["properties"];
  properties["$schema"] = {{"type", "string"}, {"description", "where editors find this schema; not read"}};
  properties["schema_version"] = {{"const", schema_version}};
  for (const Field& field : root.fields)
    properties[field.name] = field_schema(field, names, Form::scenario);
  properties["description"] = {{"type", "string"}, {"maxLength", 10000}};
  properties["extends"] = {{"type", "string"},
                           {"minLength", 1},
                           {"description", "path of the scenario that this one changes, relative to this file"}};
  for (const Section& section : root.sections)
    properties[section.name] = section_schema(section, names, Form::scenario);
  properties["machine"]["properties"]["profile"] = {
      {"type", "string"}, {"minLength", 1}, {"description", "name of a machine profile, or a path of one"}};
  properties["library"]["properties"]["preset"] = {
      {"type", "string"}, {"minLength", 1}, {"description", "name of a library preset, or a path of one"}};
  properties["fabric"] = fabric_schema(names);
  ordered_json sweep = object("dotted path of a value -> its values; every combination is a point");
  for_each_field(root, [&](const Field& field) {
    if (!field.selector)
      add_axis(sweep["properties"], field, names);
  });
  sweep["properties"][preset_path] = designs_schema(properties["library"]);
  // As a list: points, with the same paths in each.
  sweep["description"] = "dotted path of a value -> its values, every combination is a point; or a list of points";
  sweep["type"] = ordered_json::array({"object", "array"});
  sweep["minItems"] = 1;
  sweep["items"] = {{"type", "object"}, {"minProperties", 1}, {"propertyNames", ordered_json::object()}};
  for (const auto& [path, axis] : sweep["properties"].items())
    sweep["items"]["propertyNames"]["enum"].push_back(path);
  properties["sweep"] = std::move(sweep);
  schema["required"] = ordered_json::array({"schema_version"});
  // A scenario that extends another one may leave out anything; one that uses a profile, any part of the machine.
  schema["if"] = {{"not", {{"required", ordered_json::array({"extends"})}}}};
  ordered_json complete = {{"required", required_keys(root)}};
  complete["properties"]["machine"] = {{"if", {{"not", {{"required", ordered_json::array({"profile"})}}}}},
                                       {"then", completeness(root_section("machine"))}};
  complete["if"] = {{"not", without_network()}};
  complete["then"] = {{"required", network_keys(root)}};
  complete["then"]["properties"]["machine"] = {
      {"anyOf",
       {{{"required", ordered_json::array({"profile"})}}, {{"required", network_keys(root_section("machine"))}}}}};
  schema["then"] = std::move(complete);
  schema["$defs"] = definitions(Form::scenario);
  for (const Section& section : root.sections) {
    if (!section.kinds.empty())
      schema["$defs"].update(kind_definitions(section, names, Form::scenario));
  }
  return schema;
}

ordered_json profile_schema() {
  const Section& machine = root_section("machine");
  const KnownNames none;
  ordered_json schema = header("contend machine profile");
  ordered_json sections = section_schema(machine, none, Form::profile);
  sections["description"] = "A machine: every price with value, source, uncertainty and basis.";
  ordered_json properties = {{"schema_version", {{"const", schema_version}}}};
  ordered_json required = ordered_json::array({"schema_version"});
  for (const std::string& key : profile_text_keys()) {
    properties[key] = text_schema(1000);
    required.push_back(key);
  }
  for (const auto& [key, property] : sections["properties"].items()) {
    if (!properties.contains(key))
      properties[key] = property;
  }
  properties[profile_calibration_key] = {
      {"type", "object"},
      {"description",
       "how contend calibrate found the values: data, split, posterior; nothing here steers a simulation"}};
  ordered_json complete = completeness(machine);
  for (const auto& key : complete["required"])
    required.push_back(key);
  schema.update(sections);
  schema["properties"] = std::move(properties);
  schema["required"] = std::move(required);
  for (const auto& [key, inner] : complete["properties"].items())
    schema["properties"][key].update(inner, true);
  schema["$defs"] = definitions(Form::profile);
  return schema;
}

ordered_json preset_schema(const KnownNames& names) {
  const Section& library = root_section("library");
  ordered_json schema = header("contend library preset");
  schema.update(object("A library as a design: every choice with value, source, uncertainty and basis."));
  ordered_json& properties = schema["properties"];
  properties["schema_version"] = {{"const", schema_version}};
  schema["required"] = ordered_json::array({"schema_version"});
  for (const std::string& key : preset_text_keys()) {
    properties[key] = text_schema(1000);
    schema["required"].push_back(key);
  }
  properties["extends"] = {{"type", "string"},
                           {"minLength", 1},
                           {"description", "name of the preset that this one changes, or a path of it"}};
  properties["library"] = section_schema(library, names, Form::profile);
  properties["library"]["properties"].erase("name");
  schema["required"].push_back("library");
  schema["$defs"] = definitions(Form::profile);
  return schema;
}

} // namespace contend
