#include "scenario/reference.hpp"

#include "scenario/fields.hpp"
#include "scenario/layers.hpp"
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

/// Keys of a file that are no values of the simulation.
std::string about_files() {
  return "\n## The file\n\n"
         "| key | meaning |\n|---|---|\n"
         "| `schema_version` | " +
         std::to_string(schema_version) +
         "; required in every file |\n"
         "| `description` | a text |\n"
         "| `extends` | path of another scenario, relative to this file: this one says only what is different; its "
         "values and axes of the sweep win |\n"
         "| `sweep` | dotted paths of values with what each takes on, a list or {\"from\": 1, \"to\": 20, \"step\": "
         "1}: "
         "every combination is a point; or a list of points, objects with the same paths. With `library.preset` whole "
         "designs vary |\n"
         "| `$schema` | where an editor finds the schema that `contend schema scenario` prints; not read |\n\n"
         "Names of profiles and presets may be paths of files, relative to this one. A value that neither the file nor "
         "what it names gives has its default.\n";
}

} // namespace

std::string scenario_reference(const KnownNames& names) {
  std::string page = "# Scenario reference\n\n"
                     "Generated from the field declarations by `contend-schema reference`; do not edit.\n" +
                     about_files();
  write_section(scenario_fields(), "", names, page);
  return page;
}

} // namespace contend
