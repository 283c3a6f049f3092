#include "scenario/reader.hpp"

#include "scenario/value_codec.hpp"

#include <algorithm>
#include <optional>

namespace contend::scenario {

namespace {

constexpr std::size_t longest_annotation = 1000;

/// The text under `key` of an annotated value, or nullptr with a diagnostic when it is absent or no text.
const Node* annotation(const Node& node, const std::string& pointer, const std::string& key, bool required,
                       Diagnostics& diagnostics) {
  const Node* text = node.find(key);
  if (text == nullptr) {
    if (required)
      diagnostics.add(
          at(node, pointer, "a measured value needs \"" + key + "\"; its keys: " + listed(annotation_keys())));
    return nullptr;
  }
  if (!text->is_string() || text->text.empty() || text->text.size() > longest_annotation) {
    diagnostics.add(
        at(*text, child_pointer(pointer, key),
           "found " + found(*text) + "; allowed: a text of 1 to " + std::to_string(longest_annotation) + " bytes"));
    return nullptr;
  }
  return text;
}

void check_range(const Field& field, const Node& node, const std::string& pointer, const Value& value,
                 Reading& reading) {
  const Node* range = node.find("range");
  if (range == nullptr)
    return;
  const std::string range_pointer = child_pointer(pointer, "range");
  if (range->kind != Node::Kind::array || range->items.size() != 2) {
    reading.diagnostics.add(at(*range, range_pointer, "found " + found(*range) + "; allowed: [lowest, highest]"));
    return;
  }
  const auto low = decode(field, range->items[0], range_pointer + "/0", reading.names, reading.diagnostics);
  const auto high = decode(field, range->items[1], range_pointer + "/1", reading.names, reading.diagnostics);
  if (!low || !high)
    return;
  const auto text = [&](const Value& shown) { return encode(field, shown).dump(); };
  if (*low > *high)
    reading.diagnostics.add(
        at(*range, range_pointer, "the lower end " + text(*low) + " is above the upper end " + text(*high)));
  else if (value < *low || value > *high)
    reading.diagnostics.add(at(
        node, pointer, "the value " + text(value) + " is outside its range [" + text(*low) + ", " + text(*high) + "]"));
}

std::optional<Value> read_annotated(const Field& field, const Node& node, const std::string& pointer,
                                    Reading& reading) {
  Diagnostics& diagnostics = reading.diagnostics;
  refuse_unknown_keys(node, pointer, annotation_keys(), diagnostics);
  const bool strict = reading.strictness == Strictness::profile;
  (void)annotation(node, pointer, "source", strict, diagnostics);
  (void)annotation(node, pointer, "uncertainty", strict, diagnostics);
  (void)annotation(node, pointer, "identified_by", false, diagnostics);
  (void)annotation(node, pointer, "note", false, diagnostics);
  if (const Node* basis = annotation(node, pointer, "basis", strict, diagnostics)) {
    const auto& bases = annotation_bases();
    if (std::find(bases.begin(), bases.end(), basis->text) == bases.end())
      diagnostics.add(at(*basis, child_pointer(pointer, "basis"),
                         "found " + found(*basis) + "; allowed: one of " + listed(bases) + hint(basis->text, bases)));
  }
  const Node* plain = node.find("value");
  if (plain == nullptr) {
    diagnostics.add(at(node, pointer, "a measured value needs \"value\"; its keys: " + listed(annotation_keys())));
    return std::nullopt;
  }
  auto value = decode(field, *plain, child_pointer(pointer, "value"), reading.names, diagnostics);
  if (value)
    check_range(field, node, pointer, *value, reading);
  return value;
}

std::string origin_of(const Node& node) {
  std::string origin = node.source->label;
  const Node* basis = node.find("basis");
  const Node* source = node.find("source");
  if (basis != nullptr && source != nullptr)
    origin += " (" + basis->text + ": " + source->text + ")";
  return origin;
}

/// Returns whether the point has the value that the node asks for.
bool read_field(const Field& field, const Node* node, const Node& section, const std::string& pointer, Reading& reading,
                PointConfig& point) {
  const auto note = [&](const std::string& origin) {
    if (reading.origins != nullptr)
      (*reading.origins)[pointer] = origin;
  };
  if (node == nullptr) {
    if (field.required || reading.strictness == Strictness::complete)
      reading.diagnostics.add(at(section, pointer, "is missing; allowed: " + allowed(field, reading.names)));
    note("default");
    return true;
  }
  const bool may_be_annotated = field.measured && reading.strictness != Strictness::complete;
  std::optional<Value> value;
  if (may_be_annotated && (node->is_object() || reading.strictness == Strictness::profile)) {
    if (!node->is_object()) {
      reading.diagnostics.add(at(*node, pointer,
                                 "found " + found(*node) + "; allowed in a profile or preset: an object with " +
                                     listed(annotation_keys())));
      return false;
    }
    value = read_annotated(field, *node, pointer, reading);
  } else {
    value = decode(field, *node, pointer, reading.names, reading.diagnostics);
  }
  if (value) {
    field.set(point, *value);
    note(origin_of(*node));
  }
  return value.has_value();
}

/// Reads fields from the object at `pointer` and appends their keys. Returns whether they all are as the object says.
bool read_fields(const Section& section, const Node* node, const Node& parent, const std::string& pointer,
                 Reading& reading, PointConfig& point, std::vector<std::string>& keys) {
  bool all_read = true;
  for (const Field& field : section.fields) {
    keys.push_back(field.name);
    all_read = read_field(field, node == nullptr ? nullptr : node->find(field.name), node == nullptr ? parent : *node,
                          child_pointer(pointer, field.name), reading, point) &&
               all_read;
  }
  return all_read;
}

} // namespace

const std::vector<std::string>& annotation_keys() {
  static const std::vector<std::string> keys{"value", "source",        "uncertainty", "basis",
                                             "range", "identified_by", "note"};
  return keys;
}

const std::vector<std::string>& annotation_bases() {
  static const std::vector<std::string> bases{"measured", "literature", "calibrated", "guess"};
  return bases;
}

bool is_annotated(const Node& node) { return node.find("value") != nullptr; }

void refuse_unknown_keys(const Node& node, const std::string& pointer, const std::vector<std::string>& allowed,
                         Diagnostics& diagnostics, const std::vector<std::string>& stand_ins, const std::string& kind) {
  std::vector<std::string> named = stand_ins;
  for (const std::string& key : allowed) {
    if (std::find(named.begin(), named.end(), key) == named.end()) // a profile's name is that of its machine as well
      named.push_back(key);
  }
  const std::string of_kind = kind.empty() ? "" : " for kind '" + kind + "'";
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string& key = node.keys[i];
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end())
      diagnostics.add(
          at(node.items[i], pointer,
             "unknown key " + excerpt(key) + hint(key, named) + " (allowed" + of_kind + ": " + listed(named) + ")"));
  }
}

void read_section(const Section& section, const Node* node, const Node& parent, const std::string& pointer,
                  const std::vector<std::string>& also_allowed, Reading& reading, PointConfig& point) {
  if (node != nullptr && !node->is_object()) {
    reading.diagnostics.add(at(*node, pointer, "found " + found(*node) + "; allowed: an object"));
    return;
  }
  if (node == nullptr && section.of_network && reading.strictness != Strictness::complete) {
    // Whether that may be is the workload's to say (see the loader). Zero is no price that a scenario may name.
    for (const Field& field : section.fields)
      if (field.required)
        field.set(point, field.minimum);
    return;
  }
  if (node == nullptr && (section.required() || reading.strictness == Strictness::complete)) {
    reading.diagnostics.add(at(parent, pointer, "is missing; allowed: an object (" + section.doc + ")"));
    return;
  }
  if (node == nullptr && section.optional) {
    for_each_field(section, [&](const Field& field) {
      if (reading.origins != nullptr)
        (*reading.origins)[child_pointer(pointer, field.name)] = "not given";
    });
    return;
  }
  std::vector<std::string> keys = also_allowed;
  const bool all_read = read_fields(section, node, parent, pointer, reading, point, keys);
  if (!section.kinds.empty() && !all_read)
    return; // what else belongs here depends on the kind
  const Section* kind = kind_of(section, point);
  if (kind != nullptr)
    read_fields(*kind, node, parent, pointer, reading, point, keys);
  for (const Section& inner : section.sections) {
    keys.push_back(inner.name);
    read_section(inner, node == nullptr ? nullptr : node->find(inner.name), node == nullptr ? parent : *node,
                 child_pointer(pointer, inner.name), {}, reading, point);
  }
  if (node != nullptr)
    refuse_unknown_keys(*node, pointer, keys, reading.diagnostics, section.stand_ins,
                        kind == nullptr ? std::string() : kind->name);
}

} // namespace contend::scenario
