// A JSON value that remembers which file and line it came from, so that errors and origins survive merging.
#pragma once

#include "scenario/diagnostics.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace contend::scenario {

/// Where values come from.
struct Source {
  std::string file;                ///< for error messages: the path as the user named it
  std::string label;               ///< for the origins of a resolved scenario, for example "profile alembert"
  std::filesystem::path directory; ///< what relative paths written in this source are relative to
  bool command_line = false;       ///< wins over every file, also where a file would have to choose
};
using SourcePointer = std::shared_ptr<const Source>;

/// A JSON value. Numbers keep their kind (1 is an integer, 1.0 is not); objects keep the order of their keys.
struct Node {
  enum class Kind { null, boolean, integer, real, string, array, object };

  Kind kind = Kind::null;
  bool boolean = false;
  std::string text;              ///< string: its content; integer and real: shortest decimal form
  std::string written;           ///< real: as its source spells it, "1e3" or "128.0"; empty: not known
  std::vector<std::string> keys; ///< object: keys[i] names items[i]; otherwise empty
  std::vector<Node> items;       ///< elements of an array or values of an object
  SourcePointer source;
  int line = 0; ///< counted from 1; 0: not known

  [[nodiscard]] bool is_object() const { return kind == Kind::object; }
  [[nodiscard]] bool is_string() const { return kind == Kind::string; }
  /// The value under `key`, or nullptr when this is no object or has no such key.
  [[nodiscard]] const Node* find(std::string_view key) const;
  [[nodiscard]] Node* find(std::string_view key);
  /// Sets or replaces; a new key goes to the end.
  void set(std::string_view key, Node value);
  void erase(std::string_view key);

  [[nodiscard]] static Node object(SourcePointer source, int line = 0);
  [[nodiscard]] static Node string(std::string text, SourcePointer source, int line = 0);
};

/// Short form for "found ...": "12", "\"abc\"", "an object".
[[nodiscard]] std::string found(const Node& node);

/// `pointer` extended by one key, escaped as in RFC 6901.
[[nodiscard]] std::string child_pointer(std::string_view pointer, std::string_view key);

/// A mistake at `node`.
[[nodiscard]] Diagnostic at(const Node& node, std::string pointer, std::string message);

} // namespace contend::scenario
