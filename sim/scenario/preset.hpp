// Library presets: files that describe a library as a design, with the source of every choice.
#pragma once

#include "scenario/names.hpp"
#include "scenario/node.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace contend::scenario {

/// Path under which a sweep over whole designs is written.
inline constexpr const char* preset_path = "library.preset";

/// Keys of a preset beside "library".
[[nodiscard]] const std::vector<std::string>& preset_text_keys();

/// One value of a sweep over designs.
struct NamedDesign {
  std::string name;
  Node library;        ///< a library section without reference to a preset
  Node own;            ///< what the axis says of it; nothing where that is the name of a preset
  std::string pointer; ///< of that
};

/// Replaces the reference to a preset in a library section by the preset's values; values that the section gives itself
/// stay. Without a reference nothing happens. Throws ScenarioError when the preset cannot be used.
void insert_preset(Node& library, const std::string& pointer, const std::vector<std::filesystem::path>& directories,
                   const KnownNames& names);

/// The designs that an axis over `library.preset` stands for: a list of preset names, or an object of library sections by
/// name. Each is a layer upon the scenario's own library section `common` (nullptr: none); presets are inserted. Throws
/// ScenarioError.
[[nodiscard]] std::vector<NamedDesign> read_designs(const Node& axis, const Node* common,
                                                    const std::vector<std::filesystem::path>& directories,
                                                    const KnownNames& names);

} // namespace contend::scenario
