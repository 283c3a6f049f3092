#include "simulation/program_notes.hpp"

#include "scenario/resolved.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace contend {

namespace {

nlohmann::ordered_json library_of(const PointConfig& config) {
  return scenario::dump_section(scenario::root_section("library"), config);
}

} // namespace

std::optional<std::string> parts_without_effect(const PointConfig& config) {
  constexpr std::array<std::string_view, 4> used{"name", "coroutines", "protocol", "code"};
  constexpr const char* used_of_matching = "element_spacing";
  nlohmann::ordered_json design = library_of(config);
  nlohmann::ordered_json plain = library_of(PointConfig{});
  design["matching"].erase(used_of_matching);
  plain["matching"].erase(used_of_matching);
  std::vector<std::string> parts;
  for (const auto& [part, value] : design.items()) {
    if (std::find(used.begin(), used.end(), part) == used.end() && value != plain[part]) {
      parts.push_back("library." + part);
    }
  }
  if (parts.empty()) {
    return std::nullopt;
  }
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  }
  return text + (parts.size() == 1 ? " changes" : " change") +
         " nothing here: programs run on a library of their own, whose design is library.coroutines";
}

} // namespace contend
