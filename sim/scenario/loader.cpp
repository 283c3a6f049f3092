#include "scenario/loader.hpp"

#include "scenario/checks.hpp"
#include "scenario/fabric.hpp"
#include "scenario/json_source.hpp"
#include "scenario/layers.hpp"
#include "scenario/preset.hpp"
#include "scenario/profile.hpp"
#include "scenario/reader.hpp"
#include "scenario/resolved.hpp"
#include "scenario/sweep.hpp"

#include <algorithm>
#include <memory>

namespace contend {

namespace {

using namespace scenario;

constexpr std::size_t longest_description = 10'000;

std::string read_description(const Node& top, Diagnostics& diagnostics) {
  const Node* description = top.find("description");
  if (description == nullptr)
    return {};
  if (!description->is_string() || description->text.size() > longest_description)
    diagnostics.add(at(*description, "/description",
                       "found " + found(*description) + "; allowed: a text of at most " +
                           std::to_string(longest_description) + " bytes"));
  return description->text;
}

/// The node at a dotted path, or the innermost around it, with the pointer of the path and whether it is there.
struct Place {
  const Node* node = nullptr;
  std::string pointer;
  bool is_given = true;
};

Place place_of(const Node& top, const std::string& path) {
  Place place{&top, "", true};
  std::string rest = path;
  while (!rest.empty()) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    const std::string key = rest.substr(0, dot);
    rest.erase(0, dot + 1);
    place.pointer = child_pointer(place.pointer, key);
    // Below a key that is missing nothing is looked for: a key further on may be the name of something else here.
    const Node* inner = place.is_given ? place.node->find(key) : nullptr;
    if (inner != nullptr)
      place.node = inner;
    else
      place.is_given = false;
  }
  return place;
}

/// What a value is and who says so, for who reads of another one: "; library.matching.engine is "list" in preset ch4-vci
/// (libraries/ch4-vci.json:30)". Empty where nobody gives it.
std::string told(const Node& top, const std::string& path) {
  const Place place = place_of(top, path);
  if (path.empty() || !place.is_given)
    return {};
  const Node& given = *place.node;
  const Node* value = is_annotated(given) ? given.find("value") : &given;
  std::string said = "; " + path + " is " + found(*value);
  if (given.source->command_line)
    return said;
  return said + " in " + given.source->label + " (" + given.source->file + ":" + std::to_string(given.line) + ")";
}

/// The diagnostic for a field: at its axis when it is swept, at the sweep or its only axis when some points only have the
/// mistake, else at its value, with that of the `other` field, else at the scenario.
Diagnostic locate(const Node& top, const std::vector<Axis>& axes, const std::string& path, const std::string& other,
                  const std::string& message, bool everywhere) {
  for (const Axis& axis : axes) {
    if (axis.path == path || (axis.whole_designs && path.starts_with("library.")))
      return at(*axis.node, axis.pointer, message);
  }
  if (!everywhere && axes.size() == 1)
    return at(*axes.front().node, axes.front().pointer, message);
  if (const Node* sweep = top.find("sweep"); sweep != nullptr && !everywhere)
    return at(*sweep, "/sweep", message);
  const Place place = place_of(top, path);
  return at(*place.node, place.pointer, message + told(top, other));
}

/// Puts the values of presets in place of their names. With a sweep over designs the library section becomes that of the
/// first; all are returned.
std::vector<NamedDesign> insert_presets(Node& top, const LoadOptions& options) {
  Node* library = top.find("library");
  const Node* sweep = top.find("sweep");
  const std::optional<Node> axis = axis_of_designs(sweep);
  if (!axis) {
    if (library != nullptr && library->is_object())
      insert_preset(*library, "/library/preset", options.preset_directories, options.names);
    return {};
  }
  std::vector<NamedDesign> designs = read_designs(*axis, library, options.preset_directories, options.names);
  top.set("library", designs.front().library);
  return designs;
}

/// Where a mistake of the library section is that stands for a design: in the sweep, if that has what is wrong.
std::string place_in_design(const NamedDesign& design, const std::string& pointer) {
  constexpr std::string_view library = "/library";
  if (!pointer.starts_with(library) || pointer.size() == library.size())
    return pointer;
  const std::string inside = pointer.substr(library.size());
  const Node* node = &design.own;
  for (std::size_t begin = 1; node != nullptr && begin <= inside.size();) {
    const std::size_t end = std::min(inside.find('/', begin), inside.size());
    node = node->find(inside.substr(begin, end - begin));
    begin = end + 1;
  }
  return node == nullptr ? pointer : design.pointer + inside;
}

/// Only a workload without network may leave out what the network and the library need.
void check_network(const Node& top, const PointConfig& point, Diagnostics& diagnostics) {
  const Section* workload = kind_of(root_section("workload"), point);
  if (workload != nullptr && workload->without_network)
    return;
  const auto check = [&](const Section& section, const Node& parent, const std::string& pointer) {
    if (section.of_network && parent.find(section.name) == nullptr)
      diagnostics.add(
          at(parent, child_pointer(pointer, section.name), "is missing; allowed: an object (" + section.doc + ")"));
  };
  for (const Section& section : scenario_fields().sections)
    check(section, top, "");
  const Node* machine = top.find("machine");
  if (machine == nullptr || !machine->is_object())
    return;
  const std::vector<Section>& sections = root_section("machine").sections;
  const bool has_any = std::any_of(sections.begin(), sections.end(), [&](const Section& section) {
    return section.of_network && machine->find(section.name) != nullptr;
  });
  if (!has_any) {
    diagnostics.add(at(*machine, "/machine",
                       "has no network (nic, software, ...): it is a machine for workloads without, such as lock; "
                       "this workload is " +
                           excerpt(point.workload.kind)));
    return;
  }
  for (const Section& section : sections)
    check(section, *machine, "/machine");
}

/// A preset that designs processes as coroutines says nothing of workloads that have none: what would be simulated under its
/// name is the library of the defaults. What a scenario itself says of coroutines is left alone: resolved ones say everything.
void check_preset(const Node& top, const Node& library, const std::string& pointer, const PointConfig& point,
                  Diagnostics& diagnostics) {
  const Node* coroutines = library.is_object() ? library.find("coroutines") : nullptr;
  if (coroutines == nullptr || !coroutines->source->label.starts_with("preset "))
    return;
  std::string programs;
  for (const Section& kind : root_section("workload").kinds) {
    if (kind.of_processes)
      programs += (programs.empty() ? "" : ", ") + kind.name;
  }
  diagnostics.add(at(top, pointer,
                     coroutines->source->label + " designs MPI processes that are coroutines, which the workload " +
                         excerpt(point.workload.kind) + " has not; allowed: another preset, or one of the workloads " +
                         programs));
}

void check_presets(const Node& top, const std::vector<NamedDesign>& designs, const PointConfig& point,
                   Diagnostics& diagnostics) {
  const Section* workload = kind_of(root_section("workload"), point);
  if (workload == nullptr || workload->of_processes)
    return;
  for (const NamedDesign& design : designs)
    check_preset(top, design.library, design.pointer, point, diagnostics);
  if (const Node* library = top.find("library"); library != nullptr && designs.empty())
    check_preset(top, *library, "/library/preset", point, diagnostics);
}

ResolvedScenario resolve(Node top, const LoadOptions& options) {
  Diagnostics diagnostics;
  if (Node* machine = top.find("machine"); machine != nullptr && machine->is_object())
    insert_profile(*machine, options.profile_directories, options.names);
  const std::vector<NamedDesign> designs = insert_presets(top, options);
  std::optional<PlatformFacts> platform;
  if (Node* fabric = top.find("fabric"); fabric != nullptr && fabric->is_object())
    platform = insert_route(*fabric, options.resolve_route, diagnostics);
  // A route that could not be found is one mistake, not three.
  diagnostics.throw_if_any();

  ResolvedScenario resolved;
  resolved.origins = nlohmann::ordered_json::object();
  Reading reading{options.names, diagnostics, Strictness::scenario, &resolved.origins};
  PointConfig base;
  read_section(scenario_fields(), &top, top, "", {"$schema", "schema_version", "description", "extends", "sweep"},
               reading, base);
  check_network(top, base, diagnostics);
  check_presets(top, designs, base, diagnostics);
  const std::string description = read_description(top, diagnostics);
  if (!designs.empty()) {
    diagnostics.move([&](const std::string& pointer) { return place_in_design(designs.front(), pointer); });
    diagnostics.throw_if_any(); // what is wrong in the common part of the library would be wrong in each design
  }
  const Sweep sweep = read_sweep(top.find("sweep"), base, designs, options.max_points, reading);
  diagnostics.throw_if_any();

  for (const Axis& axis : sweep.axes)
    resolved.origins[axis.pointer] = axis.node->source->label;
  resolved.points = expand(base, sweep);
  check_points(
      resolved.points, platform, options.names.traits,
      [&](const std::string& path, const std::string& other, const std::string& message, bool everywhere) {
        return locate(top, sweep.axes, path, other, message, everywhere);
      },
      diagnostics);
  diagnostics.throw_if_any();
  resolved.document = dump_scenario(base, description, sweep);
  return resolved;
}

ResolvedScenario load(std::string_view text, const std::filesystem::path& file, const SourcePointer& source,
                      const LoadOptions& options) {
  Node top = with_extended_files(parse_json(text, source), file);
  Diagnostics diagnostics;
  Node overrides = override_layer(options.overrides, diagnostics);
  diagnostics.throw_if_any();
  std::vector<std::string> replaced = merge_overrides(top, std::move(overrides), diagnostics);
  diagnostics.throw_if_any();
  ResolvedScenario resolved = resolve(std::move(top), options);
  resolved.replaced = std::move(replaced);
  return resolved;
}

} // namespace

ResolvedScenario load_scenario(const std::filesystem::path& file, const LoadOptions& options) {
  const std::string text = read_text_file(file);
  const auto source = std::make_shared<const Source>(
      Source{file.string(), "scenario " + file.filename().string(), file.parent_path(), false});
  return load(text, file, source, options);
}

ResolvedScenario load_scenario_text(std::string_view text, const std::string& name,
                                    const std::filesystem::path& base_dir, const LoadOptions& options) {
  const auto source = std::make_shared<const Source>(Source{name, "scenario " + name, base_dir, false});
  return load(text, base_dir / name, source, options);
}

} // namespace contend
