// One value between JSON and memory, as its field's declaration says.
#pragma once

#include "scenario/fields.hpp"
#include "scenario/node.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace contend::scenario {

/// Reads a value. On a wrong type, a missing unit, a bound or an unknown name: adds a diagnostic and returns nothing.
[[nodiscard]] std::optional<Value> decode(const Field& field, const Node& node, const std::string& pointer,
                                          const KnownNames& names, Diagnostics& diagnostics);

/// The canonical JSON form; decode gives back the same value.
[[nodiscard]] nlohmann::ordered_json encode(const Field& field, const Value& value);

/// What a field accepts, in words: "a whole number from 1 to 4096".
[[nodiscard]] std::string allowed(const Field& field, const KnownNames& names);

} // namespace contend::scenario
