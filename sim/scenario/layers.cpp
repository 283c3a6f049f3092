#include "scenario/layers.hpp"

#include "scenario/file_chain.hpp"
#include "scenario/json_source.hpp"
#include "scenario/reader.hpp"

#include <algorithm>
#include <memory>

namespace contend::scenario {

namespace {

/// What a layer has at a dotted path; nullptr if nothing.
const Node* value_at(const Node& layer, std::string_view path) {
  const Node* node = &layer;
  while (node != nullptr) {
    const std::size_t dot = path.find('.');
    node = node->find(path.substr(0, dot));
    if (dot == std::string_view::npos)
      return node;
    path.remove_prefix(dot + 1);
  }
  return nullptr;
}

/// Whether a layer gives a value at a dotted path.
bool gives(const Node& layer, std::string_view path) { return value_at(layer, path) != nullptr; }

/// The same, of a layer in which null takes values away.
bool gives_value(const Node& layer, std::string_view path) {
  const Node* value = value_at(layer, path);
  return value != nullptr && value->kind != Node::Kind::null;
}

/// The axis of a sweep over a dotted path; nullptr if there is none.
const Node* axis_of(const Node& top, const std::string& path) {
  const Node* sweep = top.find("sweep");
  if (sweep == nullptr)
    return nullptr;
  const bool listed = sweep->kind == Node::Kind::array && !sweep->items.empty();
  return listed ? sweep->items.front().find(path) : sweep->find(path);
}

void merge_object(Node& lower, Node upper, int levels) {
  for (std::size_t i = 0; i < upper.keys.size(); ++i) {
    Node* below = lower.find(upper.keys[i]);
    Node& above = upper.items[i];
    const bool both_sections = levels > 0 && below != nullptr && below->is_object() && above.is_object() &&
                               !is_annotated(*below) && !is_annotated(above);
    if (both_sections)
      merge_object(*below, std::move(above), levels - 1);
    else
      lower.set(upper.keys[i], std::move(above));
  }
}

/// Removes what a layer gives a value from an object by path.
void end_sweeps(Node& sweep, const Node& layer) {
  if (!sweep.is_object())
    return;
  const std::vector<std::string> paths = sweep.keys;
  for (const std::string& path : paths) {
    if (gives(layer, path))
      sweep.erase(path);
  }
}

constexpr int all_levels = static_cast<int>(JsonLimits::depth);

/// The dotted paths of all values of a section.
void list_values(const Node& section, const std::string& prefix, std::vector<std::string>& paths) {
  for (std::size_t i = 0; i < section.keys.size(); ++i) {
    const Node& value = section.items[i];
    if (value.is_object() && !is_annotated(value))
      list_values(value, prefix + section.keys[i] + ".", paths);
    else
      paths.push_back(prefix + section.keys[i]);
  }
}

/// Says which nulls of the command line have nothing to take away: most likely their paths are misspelt.
void refuse_vain_nulls(const Node& top, const Node& layer, const std::string& prefix, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < layer.keys.size(); ++i) {
    const std::string path = prefix + layer.keys[i];
    const Node& value = layer.items[i];
    if (value.is_object() && !is_annotated(value))
      refuse_vain_nulls(top, value, path + ".", diagnostics);
    if (value.kind != Node::Kind::null)
      continue;
    const bool is_axis = prefix == "sweep.";
    const bool is_there = axis_of(top, is_axis ? layer.keys[i] : path) != nullptr || (!is_axis && gives(top, path));
    if (!is_there)
      diagnostics.add({value.source->file, 0, "",
                       excerpt(path) + ": null takes away what the scenario's file says of it, which is nothing"});
  }
}

/// Erases the nulls of the command line.
void erase_nulls(Node& section) {
  for (std::size_t i = section.keys.size(); i-- > 0;) {
    Node& value = section.items[i];
    if (value.kind == Node::Kind::null && value.source->command_line)
      section.erase(std::string(section.keys[i]));
    else if (value.is_object())
      erase_nulls(value);
  }
}

} // namespace

void merge_layer(Node& lower, Node upper) {
  if (Node* sweep = lower.find("sweep"); sweep != nullptr) {
    end_sweeps(*sweep, upper);
    const bool listed = sweep->kind == Node::Kind::array;
    const auto has_no_values = [&] {
      return !sweep->items.empty() && sweep->items.front().is_object() && sweep->items.front().keys.empty();
    };
    const bool had_none = has_no_values(); // whoever reads it refuses that
    for (Node& point : sweep->items) {
      if (listed)
        end_sweeps(point, upper);
    }
    // A list of points that differ in nothing any more.
    if (listed && !had_none && has_no_values())
      lower.erase("sweep");
  }
  for (std::size_t i = 0; i < upper.keys.size(); ++i) {
    const std::string& key = upper.keys[i];
    Node& above = upper.items[i];
    Node* below = lower.find(key);
    const bool mergeable =
        below != nullptr && below->is_object() && above.is_object() && !is_annotated(*below) && !is_annotated(above);
    const bool replaces_fabric = key == "fabric" && !above.source->command_line;
    if (!mergeable || replaces_fabric)
      lower.set(key, std::move(above));
    else
      merge_object(*below, std::move(above), key == "sweep" ? 0 : all_levels);
  }
}

std::vector<std::string> merge_overrides(Node& lower, Node overrides, Diagnostics& diagnostics) {
  refuse_vain_nulls(lower, overrides, "", diagnostics);
  if (Node* fabric = lower.find("fabric");
      fabric != nullptr && gives(overrides, "fabric.platform") && !gives_value(overrides, "fabric.platform")) {
    for (const char* key : {"from", "to"})
      fabric->erase(key);
  }
  std::vector<std::string> replaced;
  if (const Node* library = lower.find("library"); library != nullptr && gives_value(overrides, "library.preset")) {
    if (library->is_object())
      list_values(*library, "", replaced);
    std::erase_if(replaced, [](const std::string& path) { return path == "preset" || path == "name"; });
    lower.erase("library");
  }
  merge_layer(lower, std::move(overrides));
  erase_nulls(lower);
  return replaced;
}

void check_layer(const Node& layer) {
  const auto refuse = [](const Node& node, const char* pointer, const std::string& message) {
    throw ScenarioError({at(node, pointer, message)});
  };
  if (!layer.is_object())
    refuse(layer, "", "found " + found(layer) + "; allowed: an object");
  if (const Node* schema = layer.find("$schema"); schema != nullptr && !schema->is_string())
    refuse(*schema, "/$schema", "found " + found(*schema) + "; allowed: the address of a JSON Schema");
  const Node* version = layer.find("schema_version");
  const std::string known = std::to_string(schema_version);
  if (version == nullptr)
    refuse(layer, "/schema_version", "is missing; allowed: " + known + hint("schema_version", layer.keys));
  else if (version->kind != Node::Kind::integer || version->text != known)
    refuse(*version, "/schema_version", "found " + found(*version) + "; this program reads version " + known);
}

Node with_extended_files(Node top, const std::filesystem::path& top_file) {
  std::vector<Node> layers;
  FileChain chain("files");
  chain.add(top_file, top, "");
  check_layer(top);
  layers.push_back(std::move(top));
  while (const Node* extends = layers.back().find("extends")) {
    const std::string pointer = "/extends";
    if (!extends->is_string() || extends->text.empty() || extends->text.find('\0') != std::string::npos)
      throw ScenarioError({at(*extends, pointer, "found " + found(*extends) + "; allowed: a path of a scenario file")});
    const std::filesystem::path file = extends->source->directory / extends->text;
    chain.add(file, *extends, pointer);
    const std::string text = read_text_file(file, extends, pointer);
    const auto source = std::make_shared<const Source>(
        Source{file.string(), "scenario " + file.filename().string(), file.parent_path(), false});
    Node layer = parse_json(text, source);
    check_layer(layer);
    layers.push_back(std::move(layer));
  }
  Node merged = std::move(layers.back());
  layers.pop_back();
  while (!layers.empty()) {
    merge_layer(merged, std::move(layers.back()));
    layers.pop_back();
  }
  merged.erase("extends");
  merged.erase("$schema"); // for editors
  return merged;
}

Node override_layer(const std::vector<std::pair<std::string, std::string>>& overrides, Diagnostics& diagnostics) {
  constexpr std::size_t longest_path = 200;
  const auto source = std::make_shared<const Source>(Source{"command line", "command line", {}, true});
  Node layer = Node::object(source);
  for (const auto& [dotted, text] : overrides) {
    const std::string& path = dotted; // a lambda may not capture the binding itself
    const auto refuse = [&](const std::string& problem) {
      diagnostics.add({source->file, 0, "", excerpt(path) + problem});
    };
    std::vector<std::string> keys;
    std::string rest = path;
    if (path.starts_with("sweep.")) {
      keys = {"sweep", path.substr(6)};
    } else {
      for (std::size_t dot = rest.find('.'); dot != std::string::npos; dot = rest.find('.')) {
        keys.push_back(rest.substr(0, dot));
        rest.erase(0, dot + 1);
      }
      keys.push_back(rest);
    }
    if (path.size() > longest_path ||
        std::any_of(keys.begin(), keys.end(), [](const auto& key) { return key.empty(); }) ||
        keys.size() > JsonLimits::depth) {
      refuse(" is no path of names with dots between them, such as workload.pairs");
      continue;
    }
    if (keys.front() == "extends" || keys.front() == "schema_version") {
      refuse(" stays as the file has it: it cannot be overridden");
      continue;
    }
    Node value;
    try {
      value = parse_json(text, source);
    } catch (const ScenarioError&) {
      value = Node::string(text, source); // not JSON: a bare string, as in workload.mode=process
    }
    for (auto key = keys.rbegin(); key != keys.rend() - 1; ++key) {
      Node outer = Node::object(source);
      outer.set(*key, std::move(value));
      value = std::move(outer);
    }
    Node single = Node::object(source);
    single.set(keys.front(), std::move(value));
    merge_layer(layer, std::move(single));
  }
  return layer;
}

} // namespace contend::scenario
