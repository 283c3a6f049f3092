// Files that scenarios use by name: machine profiles and library presets. NAME stands for NAME.json in the first of some folders that has
// it, scenarios of that name left aside; a path stands for itself, relative to the file that names it.
#pragma once

#include "scenario/node.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace contend::scenario {

/// What files of one kind have in common.
struct FileKind {
  std::string what;                   ///< in messages: "profile"
  std::vector<std::string> text_keys; ///< obligatory texts at the top of such a file, "name" among them
  std::string mark;                   ///< one of the text keys that no file of another kind has
};

/// Finds the file that `reference` (at `pointer`) names. Throws ScenarioError when it is no usable name, or stands for no file; then the
/// message lists the files of this kind in the folders.
[[nodiscard]] std::filesystem::path find_named_file(const FileKind& kind, const Node& reference,
                                                    const std::string& pointer,
                                                    const std::vector<std::filesystem::path>& directories);

/// Reads such a file: JSON of a known version. Adds a diagnostic for each obligatory text that is missing or bad. Throws ScenarioError when
/// nothing can be read.
[[nodiscard]] Node read_named_file(const FileKind& kind, const std::filesystem::path& file, const Node& reference,
                                   const std::string& pointer, Diagnostics& diagnostics);

} // namespace contend::scenario
