// Reads a tree of nodes into a PointConfig as the field declarations say: unknown keys, missing values, measured values
// with their source. Notes where every value came from.
#pragma once

#include "scenario/fields.hpp"
#include "scenario/node.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace contend::scenario {

/// How strict to be about what is absent.
enum class Strictness {
  scenario, ///< defaults apply; a measured value may be plain or annotated
  profile,  ///< a measured value must be annotated with value, source, uncertainty and basis
  complete, ///< every value must be given, plain (a configuration sent between processes)
};

/// What reading needs besides the tree.
struct Reading {
  const KnownNames& names;
  Diagnostics& diagnostics;
  Strictness strictness = Strictness::scenario;
  nlohmann::ordered_json* origins = nullptr; ///< filled with JSON pointer -> origin when given
};

/// Keys of the object that annotates a measured value; `range`, `identified_by` (the measurement or fit that gives the value)
/// and `note` are optional.
[[nodiscard]] const std::vector<std::string>& annotation_keys();
/// Allowed values of `basis`.
[[nodiscard]] const std::vector<std::string>& annotation_bases();

/// Whether a node is a measured value with annotations rather than a section: sections have no key "value".
[[nodiscard]] bool is_annotated(const Node& node);

/// Reads `node` (nullptr: absent) into `point`. `parent` locates an absent section; `also_allowed` are keys that the
/// caller reads itself.
void read_section(const Section& section, const Node* node, const Node& parent, const std::string& pointer,
                  const std::vector<std::string>& also_allowed, Reading& reading, PointConfig& point);

/// Adds a diagnostic for each key of `node` that is not in `allowed`. `stand_ins` are named in the message as well, and so
/// is `kind` when the node is of one.
void refuse_unknown_keys(const Node& node, const std::string& pointer, const std::vector<std::string>& allowed,
                         Diagnostics& diagnostics, const std::vector<std::string>& stand_ins = {},
                         const std::string& kind = {});

} // namespace contend::scenario
