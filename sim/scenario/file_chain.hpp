// Files that extend each other, from the first one down: none comes twice.
#pragma once

#include "scenario/node.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace contend::scenario {

class FileChain {
public:
  /// `what`: the files, in messages.
  explicit FileChain(std::string what) : what_(std::move(what)) {}

  /// Adds the file that `reference` (at `pointer`) names. Throws ScenarioError if it is in the chain already, or the chain is too long.
  void add(const std::filesystem::path& file, const Node& reference, const std::string& pointer);

private:
  std::string what_;
  std::vector<std::filesystem::path> files_;
};

} // namespace contend::scenario
