#include "scenario/fields.hpp"

#include "scenario/design_fields.hpp"
#include "scenario/machine_fields.hpp"
#include "scenario/section_builder.hpp"
#include "scenario/workload_fields.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace contend::scenario {

namespace {

/// The values of a library carry source and uncertainty in a preset; a name needs none.
Section with_sources(Section section) {
  for (Field& field : section.fields)
    field.measured = field.name != "name";
  for (Section& inner : section.sections)
    inner = with_sources(std::move(inner));
  return section;
}

void complete(Section& section, const std::string& prefix) {
  for (Field& field : section.fields) {
    field.path = prefix + field.name;
    // "count" says nothing in a table; what is counted does.
    field.short_name = field.name == "count" ? section.name : field.name;
  }
  for (Section& kind : section.kinds)
    complete(kind, prefix);
  for (Section& inner : section.sections)
    complete(inner, prefix + inner.name + ".");
}

void collect(const Section& section, const PointConfig& point,
             std::map<std::string, const Field*, std::less<>>& by_path) {
  for (const Field& field : section.fields)
    by_path.emplace(field.path, &field);
  if (const Section* kind = kind_of(section, point))
    collect(*kind, point, by_path);
  for (const Section& inner : section.sections)
    collect(inner, point, by_path);
}

Section build() {
  auto root = declare<PointConfig>("scenario", "A scenario: machine, network, library design and workload.",
                                   Presence::required, [](auto& point) -> auto& { return point; });
  root.field("name", &PointConfig::name, TextRule{200}, "name of the scenario");
  root.section(machine_fields());
  root.section(fabric_fields());
  root.section(with_sources(library_fields()));
  root.section(workload_fields());
  root.section(placement_fields());
  root.section(run_fields());
  Section section = root.finish();
  complete(section, "");
  return section;
}

} // namespace

bool Section::required() const {
  return std::any_of(fields.begin(), fields.end(), [](const Field& field) { return field.required; }) ||
         std::any_of(sections.begin(), sections.end(), [](const Section& inner) { return inner.required(); });
}

const Section& scenario_fields() {
  static const Section root = build();
  return root;
}

const Section& root_section(std::string_view name) {
  for (const Section& section : scenario_fields().sections) {
    if (section.name == name)
      return section;
  }
  throw std::logic_error("no such section: " + std::string(name));
}

const Section* kind_of(const Section& section, const PointConfig& point) {
  const auto selector =
      std::find_if(section.fields.begin(), section.fields.end(), [](const Field& field) { return field.selector; });
  if (selector == section.fields.end())
    return nullptr;
  const auto chosen = std::get<std::string>(selector->get(point));
  const auto kind = std::find_if(section.kinds.begin(), section.kinds.end(),
                                 [&](const Section& candidate) { return candidate.name == chosen; });
  return kind == section.kinds.end() ? nullptr : &*kind;
}

std::map<std::string, const Field*, std::less<>> fields_by_path(const PointConfig& point) {
  std::map<std::string, const Field*, std::less<>> by_path;
  collect(scenario_fields(), point, by_path);
  return by_path;
}

} // namespace contend::scenario
