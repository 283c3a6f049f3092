#include "scenario/file_chain.hpp"

#include <algorithm>
#include <system_error>

namespace contend::scenario {

namespace {

std::filesystem::path same_file_key(const std::filesystem::path& file) {
  std::error_code error;
  std::filesystem::path key = std::filesystem::weakly_canonical(file, error);
  return error ? file : key;
}

} // namespace

void FileChain::add(const std::filesystem::path& file, const Node& reference, const std::string& pointer) {
  constexpr std::size_t longest = 16;
  const auto is_same = [&](const std::filesystem::path& other) { return same_file_key(other) == same_file_key(file); };
  const bool circle = std::any_of(files_.begin(), files_.end(), is_same);
  if (circle || files_.size() >= longest) {
    std::string names;
    for (const std::filesystem::path& link : files_)
      names += link.filename().string() + " -> ";
    throw ScenarioError({at(reference, pointer,
                            (circle ? what_ + " extend each other in a circle: "
                                    : "the chain of " + what_ + " that extend each other is too long: ") +
                                names + file.filename().string())});
  }
  files_.push_back(file);
}

} // namespace contend::scenario
