#include "scenario/fields.hpp"

#include "scenario/design_fields.hpp"
#include "scenario/machine_fields.hpp"
#include "scenario/section_builder.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace contend::scenario {

namespace {

Section workload_with_kind() {
  Section workload = workload_fields();
  // The kind chooses which parameters apply, so it is kept beside them and not among them.
  auto kind = declare<PointConfig>("", "", Presence::defaulted, [](auto& point) -> auto& { return point; });
  kind.field("kind", &PointConfig::workload_kind, RegistryRule{&KnownNames::workloads}, "which workload");
  Section holder = kind.finish();
  workload.fields.insert(workload.fields.begin(), std::move(holder.fields.front()));
  return workload;
}

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
  for (Section& inner : section.sections)
    complete(inner, prefix + inner.name + ".");
}

Section build() {
  auto root = declare<PointConfig>("scenario", "A scenario: machine, network, library design and workload.",
                                   Presence::required, [](auto& point) -> auto& { return point; });
  root.field("name", &PointConfig::name, TextRule{200}, "name of the scenario");
  root.section(machine_fields());
  root.section(fabric_fields());
  root.section(with_sources(library_fields()));
  root.section(workload_with_kind());
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

const std::map<std::string, const Field*, std::less<>>& fields_by_path() {
  static const std::map<std::string, const Field*, std::less<>> index = [] {
    std::map<std::string, const Field*, std::less<>> paths;
    for_each_field(scenario_fields(), [&](const Field& field) { paths.emplace(field.path, &field); });
    return paths;
  }();
  return index;
}

} // namespace contend::scenario
