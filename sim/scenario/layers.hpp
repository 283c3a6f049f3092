// A scenario is a stack of layers: the file that it extends, the file itself, the command line. The upper one wins.
#pragma once

#include "scenario/node.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace contend::scenario {

/// The only version of the formats so far.
inline constexpr int schema_version = 1;

/// Merges `upper` into `lower`, key by key. Whole values win: arrays, measured values with annotations, sweep axes and
/// the fabric, whose two forms must not mix. A value given by the upper layer ends a lower layer's sweep over it.
void merge_layer(Node& lower, Node upper);

/// Merges the command line into what the files say. A preset of it is a whole library design: what files say of the
/// library goes, and the dotted paths of these values are returned. Null takes away what the files say of a value, and
/// their sweep over it; with a fabric's platform its hosts. Where there is nothing to take away, that is a mistake.
std::vector<std::string> merge_overrides(Node& lower, Node overrides, Diagnostics& diagnostics);

/// Checks that a layer is an object of a known schema version. Throws ScenarioError.
void check_layer(const Node& layer);

/// Puts the files that `top` extends below it. Throws ScenarioError on a missing file or a cycle.
[[nodiscard]] Node with_extended_files(Node top, const std::filesystem::path& top_file);

/// The command line as a layer: dotted path, and JSON text or a bare string. "sweep.workload.pairs" sets an axis.
[[nodiscard]] Node override_layer(const std::vector<std::pair<std::string, std::string>>& overrides,
                                  Diagnostics& diagnostics);

} // namespace contend::scenario
