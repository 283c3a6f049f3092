// A JSON document, to be written only. Members keep the order in which they were added.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace contend::native {

class Json {
public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json() = default;
  Json(bool value) : value_(value) {}                           // NOLINT(google-explicit-constructor)
  Json(int value) : value_(static_cast<std::int64_t>(value)) {} // NOLINT(google-explicit-constructor)
  Json(std::int64_t value) : value_(value) {}                   // NOLINT(google-explicit-constructor)
  Json(double value) : value_(value) {}                         // NOLINT(google-explicit-constructor)
  Json(const char* value) : value_(std::string(value)) {}       // NOLINT(google-explicit-constructor)
  Json(std::string value) : value_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Json(Array value) : value_(std::move(value)) {}               // NOLINT(google-explicit-constructor)
  Json(Object value) : value_(std::move(value)) {}              // NOLINT(google-explicit-constructor)

  [[nodiscard]] static Json object() { return Object{}; }
  [[nodiscard]] static Json array() { return Array{}; }
  [[nodiscard]] static Json array_of(const std::vector<double>& values);
  [[nodiscard]] static Json array_of(const std::vector<std::string>& values);
  [[nodiscard]] static Json array_of(const std::vector<std::int64_t>& values);

  /// Adds a member to an object; returns the object.
  Json& set(const std::string& key, Json value);
  /// Adds an element to an array.
  void push_back(Json value);

  /// Text; numbers are the shortest that read back the same, those that JSON does not know (infinities) are null.
  [[nodiscard]] std::string text(bool pretty = false) const;

private:
  void write(std::string& out, bool pretty, int depth) const;

  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> value_;
};

/// {"samples": […], "unit": "…"}
[[nodiscard]] Json metric(const std::vector<double>& samples, const std::string& unit);

} // namespace contend::native
