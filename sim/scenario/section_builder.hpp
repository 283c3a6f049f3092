// The notation in which fields are declared: one line per struct member, with a rule that fits the member's type.
#pragma once

#include "scenario/fields.hpp"

#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace contend::scenario {

// Rules. Each accepts only members of its own type, so that a wrong pairing does not compile.

struct FlagRule {};
struct CountRule {
  std::int64_t minimum;
  std::int64_t maximum;
};
struct SeedRule {};
struct RealRule {
  double minimum;
  double maximum;
};
struct TimeRule {
  Duration minimum;
  Duration maximum;
};
struct SizeRule {
  std::int64_t minimum;
  std::int64_t maximum;
};
struct RateRule {
  double minimum;
  double maximum;
};
struct TextRule {
  std::size_t max_length;
};
struct ChoiceRule {
  std::vector<std::string> names;
};
struct RegistryRule {
  std::vector<std::string> KnownNames::*registry;
};

/// No single price of a machine comes near a second; the bound keeps sums of many of them inside 64 bits.
inline constexpr Duration longest_price = Duration::picoseconds(1'000'000'000'000);
inline constexpr TimeRule any_time{Duration{}, longest_price};
inline constexpr TimeRule positive_time{Duration::picoseconds(1), longest_price};
/// Of what lies in a cache.
inline constexpr SizeRule footprint{1, std::int64_t{1} << 30};
inline constexpr RateRule any_rate{1.0, 1e15};
inline constexpr RateRule rate_or_none{0.0, 1e15};
inline constexpr SizeRule message_bytes{0, std::int64_t{1} << 40};

/// How the values of a section are given.
enum class Presence {
  defaulted, ///< a value may be left out
  required,  ///< every value must be given
  measured,  ///< every value must be given, in a profile with source and uncertainty
  known,     ///< as measured, but may be left out where it is not known, or where the default is neutral
};

/// Collects the fields of one struct. Locate finds the struct in a PointConfig, const or not.
template <class Struct, class Locate>
class SectionBuilder {
public:
  SectionBuilder(std::string name, std::string doc, Presence presence, Locate locate)
      : presence_(presence), locate_(locate) {
    section_.name = std::move(name);
    section_.doc = std::move(doc);
  }

  void field(const char* name, bool Struct::*member, FlagRule, const char* doc) { add(name, Kind::flag, member, doc); }
  void field(const char* name, int Struct::*member, CountRule rule, const char* doc) {
    bounded(add(name, Kind::count, member, doc), rule.minimum, rule.maximum);
  }
  void field(const char* name, std::int64_t Struct::*member, CountRule rule, const char* doc) {
    bounded(add(name, Kind::count, member, doc), rule.minimum, rule.maximum);
  }
  void field(const char* name, std::uint64_t Struct::*member, SeedRule, const char* doc) {
    bounded(add(name, Kind::seed, member, doc), std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max());
  }
  void field(const char* name, double Struct::*member, RealRule rule, const char* doc) {
    bounded(add(name, Kind::real, member, doc), rule.minimum, rule.maximum);
  }
  void field(const char* name, Duration Struct::*member, TimeRule rule, const char* doc) {
    bounded(add(name, Kind::time, member, doc), rule.minimum.count(), rule.maximum.count());
  }
  void field(const char* name, std::int64_t Struct::*member, SizeRule rule, const char* doc) {
    bounded(add(name, Kind::size, member, doc), rule.minimum, rule.maximum);
  }
  void field(const char* name, double Struct::*member, RateRule rule, const char* doc) {
    bounded(add(name, Kind::rate, member, doc), rule.minimum, rule.maximum);
  }
  void field(const char* name, std::string Struct::*member, TextRule rule, const char* doc) {
    add(name, Kind::text, member, doc).max_length = rule.max_length;
  }
  void field(const char* name, std::string Struct::*member, const ChoiceRule& rule, const char* doc) {
    add(name, Kind::choice, member, doc).choices = rule.names;
  }
  void field(const char* name, std::string Struct::*member, RegistryRule rule, const char* doc) {
    add(name, Kind::choice, member, doc).registry = rule.registry;
  }
  /// The value that names the kind which applies.
  void selector(const char* name, std::string Struct::*member, RegistryRule rule, const char* doc) {
    field(name, member, rule, doc);
    section_.fields.back().selector = true;
  }

  /// The field declared last says when something is done, not what that costs.
  void threshold() { section_.fields.back().threshold = true; }
  /// Prices of a library's code contain the one declared last, and only what goes beyond it is added to them: lower, it would
  /// make no library faster. What programs of coroutines compute pays it.
  void baseline() { section_.fields.back().baseline = true; }
  /// Another value stands for that of the field declared last where it is 0.
  void another_at_zero() { section_.fields.back().another_at_zero = true; }

  /// How the fields declared from here on are given.
  void presence(Presence presence) { presence_ = presence; }
  /// Adds an object inside this one.
  void section(Section inner) { section_.sections.push_back(std::move(inner)); }
  /// Adds what the selector may name; the section's name is the name of the kind.
  void kind(Section fields) { section_.kinds.push_back(std::move(fields)); }
  /// The section may be left out whole; what needs it must say so (scenario/checks/).
  void optional() { section_.optional = true; }
  /// Keys that the loader replaces by fields of this section before reading it.
  void stand_ins(std::vector<std::string> keys) { section_.stand_ins = std::move(keys); }
  /// Says that the section is about the network or the library: a machine without them may leave it out.
  void of_network() { section_.of_network = true; }
  /// Says that this kind of workload uses neither network nor library.
  void without_network() { section_.without_network = true; }
  void of_processes() { section_.of_processes = true; }
  [[nodiscard]] Section finish() { return std::move(section_); }

private:
  template <class Member>
  Field& add(const char* name, Kind kind, Member Struct::*member, const char* doc) {
    Field field;
    field.name = name;
    field.kind = kind;
    field.doc = doc;
    field.required = presence_ == Presence::required || presence_ == Presence::measured;
    field.measured = presence_ == Presence::measured || presence_ == Presence::known;
    field.get = [locate = locate_, member](const PointConfig& point) -> Value {
      const Member& value = locate(point).*member;
      if constexpr (std::is_same_v<Member, Duration>)
        return value.count();
      else if constexpr (std::is_same_v<Member, int>)
        return std::int64_t{value};
      else
        return value;
    };
    field.set = [locate = locate_, member](PointConfig& point, const Value& value) {
      Member& target = locate(point).*member;
      if constexpr (std::is_same_v<Member, Duration>)
        target = Duration::picoseconds(std::get<std::int64_t>(value));
      else if constexpr (std::is_same_v<Member, int>)
        target = static_cast<int>(std::get<std::int64_t>(value)); // bounds of an int field fit an int
      else
        target = std::get<Member>(value);
    };
    section_.fields.push_back(std::move(field));
    return section_.fields.back();
  }

  template <class Bound>
  static void bounded(Field& field, Bound minimum, Bound maximum) {
    field.minimum = minimum;
    field.maximum = maximum;
  }

  Section section_;
  Presence presence_;
  Locate locate_;
};

/// Starts the declaration of the fields of Struct.
template <class Struct, class Locate>
[[nodiscard]] SectionBuilder<Struct, Locate> declare(std::string name, std::string doc, Presence presence,
                                                     Locate locate) {
  return {std::move(name), std::move(doc), presence, locate};
}

} // namespace contend::scenario
