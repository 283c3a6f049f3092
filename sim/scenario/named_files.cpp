#include "scenario/named_files.hpp"

#include "scenario/json_source.hpp"
#include "scenario/layers.hpp"

#include <memory>
#include <set>
#include <system_error>

namespace contend::scenario {

namespace {

SourcePointer source_of(const FileKind& kind, const std::filesystem::path& file) {
  return std::make_shared<const Source>(
      Source{file.string(), kind.what + " " + file.stem().string(), file.parent_path(), false});
}

/// Folders may hold other JSON files, such as scenarios: those are no suggestions.
bool is_of_kind(const FileKind& kind, const std::filesystem::path& file) {
  try {
    return parse_json(read_text_file(file), source_of(kind, file)).find(kind.mark) != nullptr;
  } catch (const ScenarioError&) {
    return false;
  }
}

/// What a file is that somebody took for one of this kind, "a scenario" or "a measured dataset"; empty: nothing known.
std::string other_kind(const FileKind& kind, const Node& content) {
  if (content.find(kind.mark) != nullptr)
    return {};
  if (content.find("dataset") != nullptr && content.find("points") != nullptr)
    return "a measured dataset";
  for (const char* key : {"workload", "machine", "extends"}) {
    if (content.find(key) != nullptr)
      return "a scenario";
  }
  return {};
}

/// A scenario that is called like what it names, in its own folder.
bool is_scenario(const FileKind& kind, const std::filesystem::path& file) {
  try {
    const Node content = parse_json(read_text_file(file), source_of(kind, file));
    return other_kind(kind, content) == "a scenario";
  } catch (const ScenarioError&) {
    return false; // a broken file of this kind: whoever reads it says what is wrong
  }
}

std::vector<std::string> available(const FileKind& kind, const std::vector<std::filesystem::path>& directories) {
  std::set<std::string> names; // sorted: directories list their files in no particular order
  for (const std::filesystem::path& directory : directories) {
    std::error_code error;
    for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->path().extension() == ".json" && is_of_kind(kind, entry->path()))
        names.insert(entry->path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

} // namespace

std::filesystem::path find_named_file(const FileKind& kind, const Node& reference, const std::string& pointer,
                                      const std::vector<std::filesystem::path>& directories) {
  if (!reference.is_string() || reference.text.empty() || reference.text.find('\0') != std::string::npos)
    throw ScenarioError(
        {at(reference, pointer,
            "found " + found(reference) + "; allowed: the name of a " + kind.what + " or a path of one")});
  const std::string& name = reference.text;
  if (name.ends_with(".json") || name.find('/') != std::string::npos)
    return reference.source->directory / name;
  for (const std::filesystem::path& directory : directories) {
    std::error_code error;
    std::filesystem::path file = directory / (name + ".json");
    if (std::filesystem::exists(file, error) && !is_scenario(kind, file))
      return file;
  }
  const std::vector<std::string> names = available(kind, directories);
  throw ScenarioError(
      {at(reference, pointer,
          "unknown " + kind.what + " " + excerpt(name) + "; available: " + listed(names) + hint(name, names))});
}

Node read_named_file(const FileKind& kind, const std::filesystem::path& file, const Node& reference,
                     const std::string& pointer, Diagnostics& diagnostics) {
  constexpr std::size_t longest = 1000;
  Node content = parse_json(read_text_file(file, &reference, pointer), source_of(kind, file));
  if (const std::string other = other_kind(kind, content); !other.empty())
    throw ScenarioError({at(content, "", "is " + other + ", not a " + kind.what)});
  check_layer(content);
  for (const std::string& key : kind.text_keys) {
    const Node* text = content.find(key);
    if (text == nullptr)
      diagnostics.add(at(content, child_pointer("", key), "is missing; allowed: a text"));
    else if (!text->is_string() || text->text.empty() || text->text.size() > longest)
      diagnostics.add(at(*text, child_pointer("", key),
                         "found " + found(*text) + "; allowed: a text of 1 to " + std::to_string(longest) + " bytes"));
  }
  return content;
}

} // namespace contend::scenario
