#include "scenario/profile.hpp"

#include "scenario/layers.hpp"
#include "scenario/named_files.hpp"
#include "scenario/reader.hpp"

#include <algorithm>
#include <utility>

namespace contend::scenario {

namespace {

constexpr const char* reference_pointer = "/machine/profile";

const FileKind& profile_kind() {
  static const FileKind kind{"profile", {"name", "description", "cpu", "network"}, "cpu"};
  return kind;
}

/// The machine of a profile, checked, as the machine section of a scenario.
Node read_profile(const Node& reference, const std::filesystem::path& file, const KnownNames& names) {
  Diagnostics diagnostics;
  Node profile = read_named_file(profile_kind(), file, reference, reference_pointer, diagnostics);
  std::vector<std::string> others = profile_text_keys();
  others.emplace_back("schema_version");
  others.emplace_back(profile_calibration_key);
  if (const Node* record = profile.find(profile_calibration_key); record != nullptr && !record->is_object())
    diagnostics.add(at(*record, child_pointer("", profile_calibration_key),
                       "found " + found(*record) + "; allowed: an object, as contend calibrate writes it"));
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

const std::vector<std::string>& profile_text_keys() { return profile_kind().text_keys; }

void insert_profile(Node& machine, const std::vector<std::filesystem::path>& directories, const KnownNames& names) {
  const Node* reference = machine.find("profile");
  if (reference == nullptr)
    return;
  const std::filesystem::path file = find_named_file(profile_kind(), *reference, reference_pointer, directories);
  Node complete = read_profile(*reference, file, names);
  machine.erase("profile");
  merge_layer(complete, std::move(machine));
  machine = std::move(complete);
}

} // namespace contend::scenario
