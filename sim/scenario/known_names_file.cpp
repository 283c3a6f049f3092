#include "scenario/known_names_file.hpp"

#include "scenario/json_source.hpp"
#include "scenario/reader.hpp"

#include <array>
#include <memory>
#include <utility>

namespace contend {

namespace {

using namespace scenario;

/// The lists of `object` into those members of `into` that `lists` names. Other keys are refused, but for `keys`.
template <class Lists, class Into>
void read_lists(const Node& object, const std::string& pointer, const Lists& lists, std::vector<std::string> keys,
                Into& into, Diagnostics& diagnostics) {
  for (const auto& [key, member] : lists) {
    keys.emplace_back(key);
    const Node* list = object.find(key);
    if (list == nullptr || list->kind != Node::Kind::array) {
      diagnostics.add(
          at(list == nullptr ? object : *list, child_pointer(pointer, key), "is missing; allowed: a list of names"));
      continue;
    }
    for (const Node& name : list->items) {
      if (name.is_string())
        (into.*member).push_back(name.text);
      else
        diagnostics.add(at(name, child_pointer(pointer, key), "found " + found(name) + "; allowed: a name"));
    }
  }
  refuse_unknown_keys(object, pointer, keys, diagnostics);
}

} // namespace

KnownNames read_known_names(const std::filesystem::path& file) {
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
                             std::pair{"window_paths", &KnownNames::window_paths},
                             std::pair{"buffer_transfers", &KnownNames::buffer_transfers}};
  constexpr std::array traits{std::pair{"own_thread", &StatedTraits::own_thread},
                              std::pair{"limits_pollers", &StatedTraits::limits_pollers},
                              std::pair{"threads_idle", &StatedTraits::threads_idle},
                              std::pair{"threads_idle_beyond_limit", &StatedTraits::threads_idle_beyond_limit},
                              std::pair{"reads_flags", &StatedTraits::reads_flags},
                              std::pair{"locks_requests", &StatedTraits::locks_requests},
                              std::pair{"queues_by_source", &StatedTraits::queues_by_source},
                              std::pair{"in_interface", &StatedTraits::in_interface},
                              std::pair{"by_thread", &StatedTraits::by_thread},
                              std::pair{"request_flags", &StatedTraits::request_flags},
                              std::pair{"takes_tasks", &StatedTraits::takes_tasks},
                              std::pair{"puts", &StatedTraits::puts},
                              std::pair{"by_partitions", &StatedTraits::by_partitions},
                              std::pair{"one_thread_sends", &StatedTraits::one_thread_sends}};
  const auto source = std::make_shared<const Source>(Source{file.string(), file.string(), file.parent_path(), false});
  const Node top = parse_json(read_text_file(file), source);
  Diagnostics diagnostics;
  KnownNames names;
  read_lists(top, "", lists, {"traits"}, names, diagnostics);
  if (const Node* stated = top.find("traits"); stated != nullptr && stated->is_object())
    read_lists(*stated, "/traits", traits, {}, names.traits, diagnostics);
  else
    diagnostics.add(at(stated == nullptr ? top : *stated, "/traits", "is missing; allowed: an object"));
  diagnostics.throw_if_any();
  return names;
}

} // namespace contend
