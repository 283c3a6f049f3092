#include "support/json.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace contend::native {

namespace {

void write_string(std::string& out, const std::string& text) {
  static constexpr const char* digits = "0123456789abcdef";
  out += '"';
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      out += '\\';
      out += character;
    } else if (character == '\n') {
      out += "\\n";
    } else if (code < 0x20) {
      out += "\\u00";
      out += digits[code >> 4U];
      out += digits[code & 15U];
    } else {
      out += character;
    }
  }
  out += '"';
}

void write_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  out.append(buffer.data(), result.ptr);
}

void new_line(std::string& out, bool pretty, int depth) {
  if (pretty) {
    out += '\n';
    out.append(static_cast<std::size_t>(depth) * 2, ' ');
  }
}

template <typename Values>
Json array_from(const Values& values) {
  Json::Array array;
  array.reserve(values.size());
  for (const auto& value : values) {
    array.emplace_back(value);
  }
  return array;
}

} // namespace

Json Json::array_of(const std::vector<double>& values) { return array_from(values); }
Json Json::array_of(const std::vector<std::string>& values) { return array_from(values); }
Json Json::array_of(const std::vector<std::int64_t>& values) { return array_from(values); }

Json& Json::set(const std::string& key, Json value) {
  std::get<Object>(value_).emplace_back(key, std::move(value));
  return *this;
}

void Json::push_back(Json value) { std::get<Array>(value_).push_back(std::move(value)); }

std::string Json::text(bool pretty) const {
  std::string out;
  write(out, pretty, 0);
  return out;
}

void Json::write(std::string& out, bool pretty, int depth) const {
  if (const auto* flag = std::get_if<bool>(&value_)) {
    out += *flag ? "true" : "false";
  } else if (const auto* integer = std::get_if<std::int64_t>(&value_)) {
    out += std::to_string(*integer);
  } else if (const auto* number = std::get_if<double>(&value_)) {
    write_number(out, *number);
  } else if (const auto* string = std::get_if<std::string>(&value_)) {
    write_string(out, *string);
  } else if (const auto* array = std::get_if<Array>(&value_)) {
    const char* separator = "";
    out += '[';
    for (const Json& element : *array) {
      out += separator;
      element.write(out, pretty && std::holds_alternative<Object>(element.value_), depth + 1);
      separator = ", ";
    }
    out += ']';
  } else if (const auto* object = std::get_if<Object>(&value_)) {
    const char* separator = "";
    out += '{';
    for (const auto& [key, member] : *object) {
      out += separator;
      new_line(out, pretty, depth + 1);
      write_string(out, key);
      out += ": ";
      member.write(out, pretty, depth + 1);
      separator = pretty ? "," : ", ";
    }
    new_line(out, pretty && !object->empty(), depth);
    out += '}';
  } else {
    out += "null";
  }
}

Json metric(const std::vector<double>& samples, const std::string& unit) {
  Json result = Json::object();
  result.set("samples", Json::array_of(samples)).set("unit", unit);
  return result;
}

} // namespace contend::native
