#include "scenario/value_codec.hpp"

#include "scenario/units.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <system_error>

namespace contend::scenario {

namespace {

using nlohmann::ordered_json;

template <class Number>
std::optional<Number> number(const std::string& text) {
  Number value{};
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size())
    return std::nullopt;
  return value;
}

template <class From, class To>
Parsed<Value> converted(const Parsed<From>& parsed, const To& convert) {
  if (!parsed.value)
    return {{}, parsed.problem};
  return {Value{convert(*parsed.value)}, {}};
}

Parsed<Value> decode_quantity(Kind kind, const std::string& text) {
  const auto same = [](auto value) { return value; };
  switch (kind) {
  case Kind::time:
    return converted(parse_time(text), [](Duration value) { return value.count(); });
  case Kind::size:
    return converted(parse_size(text), same);
  default:
    return converted(parse_rate(text), same);
  }
}

/// The value by type alone; empty when the type does not fit. A problem is set when the text of the right type is bad.
Parsed<Value> decode_type(const Field& field, const Node& node) {
  switch (field.kind) {
  case Kind::flag:
    if (node.kind == Node::Kind::boolean)
      return {Value{node.boolean}, {}};
    break;
  case Kind::count:
    if (node.kind == Node::Kind::integer) {
      if (const auto value = number<std::int64_t>(node.text))
        return {Value{*value}, {}};
    }
    break;
  case Kind::seed:
    if (node.kind == Node::Kind::integer) {
      if (const auto value = number<std::uint64_t>(node.text))
        return {Value{*value}, {}};
    }
    break;
  case Kind::real:
    if (node.kind == Node::Kind::integer || node.kind == Node::Kind::real) {
      if (const auto value = number<double>(node.text))
        return {Value{*value}, {}};
    }
    break;
  case Kind::time:
  case Kind::size:
  case Kind::rate:
    if (node.is_string())
      return decode_quantity(field.kind, node.text);
    if (node.kind == Node::Kind::integer || node.kind == Node::Kind::real)
      return {{}, "has no unit"};
    break;
  case Kind::text:
  case Kind::choice:
    if (node.is_string())
      return {Value{node.text}, {}};
    break;
  }
  return {};
}

bool in_bounds(const Field& field, const Value& value) {
  switch (field.kind) {
  case Kind::flag:
    return true;
  case Kind::text: {
    const auto& text = std::get<std::string>(value);
    return text.size() <= field.max_length && std::none_of(text.begin(), text.end(), [](char c) {
             return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
           });
  }
  case Kind::choice:
    return true; // checked with the names at hand
  default:
    return value >= field.minimum && value <= field.maximum;
  }
}

std::string bound_text(const Field& field, const Value& bound) {
  const ordered_json json = encode(field, bound);
  return json.is_string() ? "\"" + json.get<std::string>() + "\"" : json.dump();
}

} // namespace

std::optional<Value> decode(const Field& field, const Node& node, const std::string& pointer, const KnownNames& names,
                            Diagnostics& diagnostics) {
  const auto refuse = [&](const std::string& problem) {
    diagnostics.add(at(node, pointer, "found " + found(node) + problem + "; allowed: " + allowed(field, names)));
    return std::nullopt;
  };
  const Parsed<Value> parsed = decode_type(field, node);
  if (!parsed.value)
    return refuse(parsed.problem.empty() ? "" : ", which " + parsed.problem);
  if (field.kind == Kind::choice) {
    const auto& known = field.names(names);
    if (std::find(known.begin(), known.end(), node.text) == known.end()) {
      diagnostics.add(
          at(node, pointer, "found " + found(node) + "; allowed: " + allowed(field, names) + hint(node.text, known)));
      return std::nullopt;
    }
  }
  if (!in_bounds(field, *parsed.value))
    return refuse("");
  return parsed.value;
}

ordered_json encode(const Field& field, const Value& value) {
  switch (field.kind) {
  case Kind::time:
    return format_time(Duration::picoseconds(std::get<std::int64_t>(value)));
  case Kind::size:
    return format_size(std::get<std::int64_t>(value));
  case Kind::rate:
    return format_rate(std::get<double>(value));
  default:
    return std::visit([](const auto& plain) { return ordered_json(plain); }, value);
  }
}

std::string allowed(const Field& field, const KnownNames& names) {
  const auto range = [&] {
    return " from " + bound_text(field, field.minimum) + " to " + bound_text(field, field.maximum);
  };
  switch (field.kind) {
  case Kind::flag:
    return "true or false";
  case Kind::count:
  case Kind::seed:
    return "a whole number" + range();
  case Kind::real:
    return "a number" + range();
  case Kind::time:
    return "a time with its unit" + range() + ", such as \"" + unit_example(Dimension::time) + "\"";
  case Kind::size:
    return "a size with its unit" + range() + ", such as \"" + unit_example(Dimension::size) + "\"";
  case Kind::rate:
    return "a bandwidth with its unit" + range() + ", such as \"" + unit_example(Dimension::rate) + "\"";
  case Kind::text:
    return "a text of at most " + std::to_string(field.max_length) + " bytes on one line";
  case Kind::choice:
    return "one of " + listed(field.names(names));
  }
  throw std::logic_error("unknown kind of field");
}

} // namespace contend::scenario
