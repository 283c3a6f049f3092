// What is wrong with a scenario: where, what was found, what is allowed. All errors of a scenario are reported at once.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// One mistake in a scenario or profile.
struct Diagnostic {
  std::string file;    ///< the file as the user named it, or "command line"
  int line = 0;        ///< counted from 1; 0: not known
  std::string pointer; ///< JSON pointer of the value; empty: the whole file
  std::string message; ///< what was found, what is allowed, and the nearest valid name where there is one

  /// "file:line: /pointer: message".
  [[nodiscard]] std::string text() const;
};

/// The only exception that loading throws for bad input. what() lists every mistake, one a line.
class ScenarioError : public std::runtime_error {
public:
  explicit ScenarioError(std::vector<Diagnostic> diagnostics);

  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

private:
  std::vector<Diagnostic> diagnostics_;
};

namespace scenario {

/// Collects mistakes so that a user sees all of them in one go. Keeps the first `limit`, counts the rest.
class Diagnostics {
public:
  static constexpr std::size_t limit = 20;

  void add(Diagnostic diagnostic);
  [[nodiscard]] bool empty() const { return found_.empty(); }
  /// Gives each mistake another pointer: what `place` says of the one that it has.
  void move(const std::function<std::string(const std::string& pointer)>& place);
  /// Throws ScenarioError with everything collected; returns when there is nothing.
  void throw_if_any() const;

private:
  std::vector<Diagnostic> found_;
  std::size_t left_off_ = 0;
};

/// The candidate nearest to `name` by Damerau-Levenshtein distance, or "" when none is near enough to be a slip.
[[nodiscard]] std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// "; did you mean 'x'?" or "".
[[nodiscard]] std::string hint(std::string_view name, const std::vector<std::string>& candidates);

/// "a, b, c"; long lists are cut with "...".
[[nodiscard]] std::string listed(const std::vector<std::string>& names);

/// Text from a file, made safe for a terminal: quoted, control characters replaced, cut after `longest` bytes.
[[nodiscard]] std::string excerpt(std::string_view text, std::size_t longest = 60);

/// A path in quotes, without detours and long enough to keep its end.
[[nodiscard]] std::string quoted_path(const std::filesystem::path& path);

} // namespace scenario
} // namespace contend
