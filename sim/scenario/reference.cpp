#include "scenario/reference.hpp"

#include "scenario/fields.hpp"
#include "scenario/value_codec.hpp"

namespace contend {

namespace {

using namespace scenario;

void write_fields(const Section& section, const KnownNames& names, std::string& page) {
  page += "\n" + section.doc + "\n";
  if (!section.fields.empty())
    page += "\n| value | allowed | default | meaning |\n|---|---|---|---|\n";
  for (const Field& field : section.fields) {
    const std::string standard =
        field.required ? "required" : "`" + encode(field, field.get(PointConfig{})).dump() + "`";
    page += "| `" + field.path + "` | " + allowed(field, names) + " | " + standard + " | " + field.doc + " |\n";
  }
}

void write_section(const Section& section, const std::string& path, const KnownNames& names, std::string& page) {
  const std::string title = path.empty() ? section.name : path;
  page += "\n## " + title + "\n";
  write_fields(section, names, page);
  if (!section.stand_ins.empty()) {
    page += "\nIn place of values:";
    const char* separator = " `";
    for (const std::string& key : section.stand_ins) {
      page.append(separator).append(path).append(".").append(key).append("`");
      separator = ", `";
    }
    page += ".\n";
  }
  for (const Section& kind : section.kinds) {
    page += "\n### " + title + " of kind " + kind.name + "\n";
    write_fields(kind, names, page);
  }
  for (const Section& inner : section.sections)
    write_section(inner, path.empty() ? inner.name : path + "." + inner.name, names, page);
}

} // namespace

std::string scenario_reference(const KnownNames& names) {
  std::string page = "# Scenario reference\n\n"
                     "Generated from the field declarations by `contend-schema reference`; do not edit.\n";
  write_section(scenario_fields(), "", names, page);
  return page;
}

} // namespace contend
