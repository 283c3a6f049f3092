#include "scenario/known_names_file.hpp"

#include "scenario/json_source.hpp"
#include "scenario/reader.hpp"

#include <array>
#include <memory>
#include <utility>

namespace contend {

KnownNames read_known_names(const std::filesystem::path& file) {
  using namespace scenario;
  constexpr std::array lists{std::pair{"locks", &KnownNames::locks},
                             std::pair{"matching", &KnownNames::matching},
                             std::pair{"progress", &KnownNames::progress},
                             std::pair{"assignments", &KnownNames::assignments},
                             std::pair{"partitioned", &KnownNames::partitioned},
                             std::pair{"workloads", &KnownNames::workloads},
                             std::pair{"transports", &KnownNames::transports},
                             std::pair{"notifications", &KnownNames::notifications},
                             std::pair{"idling", &KnownNames::idling},
                             std::pair{"schedulers", &KnownNames::schedulers},
                             std::pair{"process_queues", &KnownNames::process_queues},
                             std::pair{"window_paths", &KnownNames::window_paths}};
  const auto source = std::make_shared<const Source>(Source{file.string(), file.string(), file.parent_path(), false});
  const Node top = parse_json(read_text_file(file), source);
  Diagnostics diagnostics;
  KnownNames names;
  std::vector<std::string> keys;
  for (const auto& [key, member] : lists) {
    keys.emplace_back(key);
    const Node* list = top.find(key);
    if (list == nullptr || list->kind != Node::Kind::array) {
      diagnostics.add(
          at(list == nullptr ? top : *list, child_pointer("", key), "is missing; allowed: a list of names"));
      continue;
    }
    for (const Node& name : list->items) {
      if (name.is_string())
        (names.*member).push_back(name.text);
      else
        diagnostics.add(at(name, child_pointer("", key), "found " + found(name) + "; allowed: a name"));
    }
  }
  refuse_unknown_keys(top, "", keys, diagnostics);
  diagnostics.throw_if_any();
  return names;
}

} // namespace contend
