#include "scenario/profile.hpp"

#include "scenario/json_source.hpp"
#include "scenario/layers.hpp"
#include "scenario/reader.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

namespace contend::scenario {

namespace {

constexpr const char* reference_pointer = "/machine/profile";

std::vector<std::string> available_profiles(const std::vector<std::filesystem::path>& directories) {
  std::set<std::string> names; // sorted: directories list their files in no particular order
  for (const std::filesystem::path& directory : directories) {
    std::error_code error;
    for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->path().extension() == ".json")
        names.insert(entry->path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

std::filesystem::path profile_file(const Node& reference, const std::vector<std::filesystem::path>& directories) {
  const std::string& name = reference.text;
  if (name.ends_with(".json") || name.find('/') != std::string::npos)
    return reference.source->directory / name;
  for (const std::filesystem::path& directory : directories) {
    std::error_code error;
    std::filesystem::path file = directory / (name + ".json");
    if (std::filesystem::exists(file, error))
      return file;
  }
  const std::vector<std::string> available = available_profiles(directories);
  throw ScenarioError(
      {at(reference, reference_pointer,
          "unknown profile " + excerpt(name) + "; available: " + listed(available) + hint(name, available))});
}

void check_texts(const Node& profile, Diagnostics& diagnostics) {
  constexpr std::size_t longest = 1000;
  for (const std::string& key : profile_text_keys()) {
    const Node* text = profile.find(key);
    if (text == nullptr)
      diagnostics.add(at(profile, child_pointer("", key), "is missing; allowed: a text"));
    else if (!text->is_string() || text->text.empty() || text->text.size() > longest)
      diagnostics.add(at(*text, child_pointer("", key),
                         "found " + found(*text) + "; allowed: a text of 1 to " + std::to_string(longest) + " bytes"));
  }
}

/// The machine of a profile, checked, as the machine section of a scenario.
Node read_profile(const Node& reference, const std::filesystem::path& file, const KnownNames& names) {
  const std::string text = read_text_file(file, &reference, reference_pointer);
  const std::string label = "profile " + file.stem().string();
  Node profile =
      parse_json(text, std::make_shared<const Source>(Source{file.string(), label, file.parent_path(), false}));
  check_layer(profile);
  Diagnostics diagnostics;
  check_texts(profile, diagnostics);
  std::vector<std::string> others = profile_text_keys();
  others.emplace_back("schema_version");
  Reading reading{names, diagnostics, Strictness::profile, nullptr};
  PointConfig scratch;
  read_section(root_section("machine"), &profile, profile, "", others, reading, scratch);
  diagnostics.throw_if_any();
  others.erase(std::find(others.begin(), others.end(), "name")); // the machine keeps the name of its profile
  for (const std::string& key : others)
    profile.erase(key);
  return profile;
}

} // namespace

const std::vector<std::string>& profile_text_keys() {
  static const std::vector<std::string> keys{"name", "description", "cpu", "network"};
  return keys;
}

void insert_profile(Node& machine, const std::vector<std::filesystem::path>& directories, const KnownNames& names) {
  const Node* reference = machine.find("profile");
  if (reference == nullptr)
    return;
  if (!reference->is_string() || reference->text.empty() || reference->text.find('\0') != std::string::npos)
    throw ScenarioError({at(*reference, reference_pointer,
                            "found " + found(*reference) + "; allowed: the name of a profile or a path of one")});
  Node complete = read_profile(*reference, profile_file(*reference, directories), names);
  machine.erase("profile");
  merge_layer(complete, std::move(machine));
  machine = std::move(complete);
}

} // namespace contend::scenario
