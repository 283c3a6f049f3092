// The one declaration of every value of a scenario. Parsing, defaults, bounds, schema, resolved dump and reference
// documentation are all derived from it.
#pragma once

#include "scenario/config.hpp"
#include "scenario/names.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace contend::scenario {

/// How a value is written in JSON and kept in memory.
enum class Kind {
  flag,   ///< true, false: bool
  count,  ///< whole number: std::int64_t
  seed,   ///< whole number: std::uint64_t
  real,   ///< number: double
  time,   ///< "85 ns": std::int64_t picoseconds
  size,   ///< "256 B": std::int64_t bytes
  rate,   ///< "10 GB/s": double bytes per second
  text,   ///< free text: std::string
  choice, ///< one of some names: std::string
};

/// A value of any kind; the alternative is given by Kind.
using Value = std::variant<bool, std::int64_t, std::uint64_t, double, std::string>;

/// One value of a scenario.
struct Field {
  std::string name;       ///< JSON key
  std::string path;       ///< dotted path from the root, for example "machine.cache.hit"
  std::string short_name; ///< column name when the field is swept
  std::string doc;
  Kind kind = Kind::flag;
  bool required = false;  ///< no default
  bool measured = false;  ///< carries source and uncertainty in a profile or preset
  bool selector = false;  ///< says which kind of its section applies
  bool threshold = false; ///< a time: says when something is done, not what that costs
  bool baseline = false;  ///< a time: prices of a library's code contain it; only what programs compute pays it
  bool another_at_zero =
      false;     ///< a time: another value stands for it where it is 0, so that free is the least that is not
  Value minimum; ///< count, seed, real, time, size, rate
  Value maximum;
  std::size_t max_length = 0;                               ///< text
  std::vector<std::string> choices;                         ///< choice, when the set is closed
  std::vector<std::string> KnownNames::*registry = nullptr; ///< choice, when the set is open
  std::function<Value(const PointConfig&)> get;
  std::function<void(PointConfig&, const Value&)> set;

  /// The allowed names of a choice.
  [[nodiscard]] const std::vector<std::string>& names(const KnownNames& known) const {
    return registry != nullptr ? known.*registry : choices;
  }
};

/// A JSON object: its values, then the objects in it. Some objects come in kinds, which are sections without objects: the
/// values of the kind that the selector names stand beside the section's own.
struct Section {
  std::string name;
  std::string doc;
  std::vector<Field> fields;
  std::vector<Section> sections;
  std::vector<Section> kinds;
  bool optional = false;              ///< may be left out whole, though its fields are required
  bool of_network = false;            ///< may be left out by who uses neither network nor library
  bool without_network = false;       ///< a kind of workload that uses neither
  bool of_processes = false;          ///< a kind of workload whose MPI processes may be coroutines
  std::vector<std::string> stand_ins; ///< keys that the loader replaces by fields before reading, such as a profile

  /// Whether something in it must be given.
  [[nodiscard]] bool required() const;
};

/// The root of all fields. Its order is the order of keys in resolved scenarios.
[[nodiscard]] const Section& scenario_fields();

/// A section of the root by name; the name must exist.
[[nodiscard]] const Section& root_section(std::string_view name);

/// The kind that the point's selector names. nullptr: the section has no kinds, or the kind has no values of its own.
[[nodiscard]] const Section* kind_of(const Section& section, const PointConfig& point);

/// Every field that applies to the point, by dotted path.
[[nodiscard]] std::map<std::string, const Field*, std::less<>> fields_by_path(const PointConfig& point);

/// Calls visit(field) for every field of the section, in order. Fields of two kinds may have the same path.
template <class Visit>
void for_each_field(const Section& section, const Visit& visit) {
  for (const Field& field : section.fields)
    visit(field);
  for (const Section& kind : section.kinds)
    for_each_field(kind, visit);
  for (const Section& inner : section.sections)
    for_each_field(inner, visit);
}

} // namespace contend::scenario
