#include "scenario/preset.hpp"

#include "scenario/file_chain.hpp"
#include "scenario/layers.hpp"
#include "scenario/named_files.hpp"
#include "scenario/reader.hpp"
#include "scenario/value_codec.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace contend::scenario {

namespace {

const FileKind& preset_kind() {
  static const FileKind kind{"preset", {"name", "description", "models"}, "models"};
  return kind;
}

/// Where presets are looked for, and what may stand in them.
struct Presets {
  const std::vector<std::filesystem::path>& directories;
  const KnownNames& names;
};

/// The library section that a preset gives itself, checked.
Node own_library(Node& preset, const Presets& presets, Diagnostics& diagnostics) {
  std::vector<std::string> allowed = preset_text_keys();
  allowed.insert(allowed.end(), {"schema_version", "extends", "library"});
  refuse_unknown_keys(preset, "", allowed, diagnostics);
  Node* given = preset.find("library");
  Reading reading{presets.names, diagnostics, Strictness::profile, nullptr};
  PointConfig scratch;
  if (given == nullptr)
    diagnostics.add(at(preset, "/library", "is missing; allowed: an object (" + root_section("library").doc + ")"));
  else
    read_section(root_section("library"), given, preset, "/library", {}, reading, scratch);
  if (given != nullptr && given->find("name") != nullptr)
    diagnostics.add(at(*given->find("name"), "/library/name", "the design of a preset is named after the preset"));
  diagnostics.throw_if_any();
  return std::move(*given);
}

/// The library section of a preset upon that of the one that it extends, with the preset's name as its own.
Node read_preset(const Node& reference, const std::string& pointer, const Presets& presets) {
  FileChain chain("presets");
  std::vector<Node> layers;
  Node name;
  std::optional<Node> next = reference;
  for (std::string at_pointer = pointer; next; at_pointer = "/extends") {
    const std::filesystem::path file = find_named_file(preset_kind(), *next, at_pointer, presets.directories);
    chain.add(file, *next, at_pointer);
    Diagnostics diagnostics;
    Node preset = read_named_file(preset_kind(), file, *next, at_pointer, diagnostics);
    layers.push_back(own_library(preset, presets, diagnostics));
    if (layers.size() == 1)
      name = std::move(*preset.find("name"));
    const Node* extends = preset.find("extends");
    next = extends == nullptr ? std::nullopt : std::optional(*extends);
  }
  Node library = std::move(layers.back());
  for (auto layer = layers.rbegin() + 1; layer != layers.rend(); ++layer)
    merge_layer(library, std::move(*layer));
  library.set("name", std::move(name));
  return library;
}

/// The name of a design as the library section would take it; adds a diagnostic when it would not.
void check_name(const Node& name, const std::string& pointer, const KnownNames& names, Diagnostics& diagnostics) {
  if (name.text.empty())
    diagnostics.add(at(name, pointer, "a design needs a name"));
  const std::vector<Field>& fields = root_section("library").fields;
  const auto field = std::find_if(fields.begin(), fields.end(), [](const Field& one) { return one.name == "name"; });
  (void)decode(*field, name, pointer, names, diagnostics);
}

/// What the command line gives of a section: it wins over designs as well, which are layers upon the section.
Node from_command_line(const Node& section) {
  Node part = Node::object(section.source, section.line);
  for (std::size_t i = 0; i < section.keys.size(); ++i) {
    const Node& item = section.items[i];
    if (item.is_object() && !is_annotated(item)) {
      Node inner = from_command_line(item);
      if (!inner.keys.empty())
        part.set(section.keys[i], std::move(inner));
    } else if (item.source->command_line) {
      part.set(section.keys[i], item);
    }
  }
  return part;
}

/// A design as a layer: a reference to a preset, or values with the design's name.
Node design_layer(const Node& item, const Node& name) {
  if (item.is_object()) {
    Node layer = item;
    if (layer.find("name") == nullptr)
      layer.set("name", name);
    return layer;
  }
  Node layer = Node::object(item.source, item.line);
  layer.set("preset", item);
  return layer;
}

} // namespace

const std::vector<std::string>& preset_text_keys() { return preset_kind().text_keys; }

void insert_preset(Node& library, const std::string& pointer, const std::vector<std::filesystem::path>& directories,
                   const KnownNames& names) {
  const Node* reference = library.find("preset");
  if (reference == nullptr)
    return;
  Node complete = read_preset(*reference, pointer, {directories, names});
  library.erase("preset");
  merge_layer(complete, std::move(library));
  library = std::move(complete);
}

std::vector<NamedDesign> read_designs(const Node& axis, const Node* common,
                                      const std::vector<std::filesystem::path>& directories, const KnownNames& names) {
  constexpr std::size_t most = 1000;
  const std::string axis_pointer = child_pointer("/sweep", preset_path);
  const auto refuse = [&](const Node& node, const std::string& pointer, const std::string& message) {
    throw ScenarioError({at(node, pointer, message)});
  };
  if ((axis.kind != Node::Kind::array && !axis.is_object()) || axis.items.empty() || axis.items.size() > most)
    refuse(axis, axis_pointer,
           "found " + found(axis) + "; allowed: a list of presets, or an object of library sections by name, 1 to " +
               std::to_string(most));
  Diagnostics diagnostics;
  std::vector<NamedDesign> designs;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < axis.items.size(); ++i) {
    const Node& item = axis.items[i];
    const bool by_name = axis.is_object();
    const std::string pointer = child_pointer(axis_pointer, by_name ? axis.keys[i] : std::to_string(i));
    const Node name = by_name ? Node::string(axis.keys[i], item.source, item.line) : item;
    if (by_name ? !item.is_object() : !item.is_string())
      refuse(item, pointer, "found " + found(item) + "; allowed: " + (by_name ? "an object" : "the name of a preset"));
    check_name(name, pointer, names, diagnostics);
    if (!seen.insert(name.text).second)
      diagnostics.add(at(item, pointer, "found " + found(item) + " again; allowed: each design once"));
    diagnostics.throw_if_any();
    Node library = common == nullptr ? Node::object(item.source, item.line) : *common;
    if (library.is_object()) {
      Node last = from_command_line(library);
      library.erase("name"); // each design has its own
      merge_layer(library, design_layer(item, name));
      merge_layer(library, std::move(last));
    }
    insert_preset(library, by_name ? child_pointer(pointer, "preset") : pointer, directories, names);
    designs.push_back({name.text, std::move(library), by_name ? item : Node::object(item.source, item.line), pointer});
  }
  return designs;
}

} // namespace contend::scenario
