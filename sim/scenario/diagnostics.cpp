#include "scenario/diagnostics.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace contend {

namespace {

std::string joined(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty())
      text += '\n';
    text += diagnostic.text();
  }
  return text;
}

} // namespace

std::string Diagnostic::text() const {
  std::string text = file;
  if (line > 0)
    text += ":" + std::to_string(line);
  if (!text.empty())
    text += ": ";
  if (!pointer.empty())
    text += pointer + ": ";
  return text + message;
}

ScenarioError::ScenarioError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(joined(diagnostics)), diagnostics_(std::move(diagnostics)) {}

namespace scenario {

void Diagnostics::add(Diagnostic diagnostic) {
  if (found_.size() < limit)
    found_.push_back(std::move(diagnostic));
  else
    ++left_off_;
}

void Diagnostics::move(const std::function<std::string(const std::string& pointer)>& place) {
  for (Diagnostic& diagnostic : found_)
    diagnostic.pointer = place(diagnostic.pointer);
}

void Diagnostics::throw_if_any() const {
  if (found_.empty())
    return;
  std::vector<Diagnostic> all = found_;
  if (left_off_ > 0)
    all.push_back({all.front().file, 0, "", "and " + std::to_string(left_off_) + " more errors"});
  throw ScenarioError(std::move(all));
}

namespace {

/// Optimal string alignment: insert, delete, replace, swap neighbours; upper and lower case are the same letter.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  };
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0U : 1U);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

} // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr std::size_t longest_name = 64; // nobody means a listed name by something longer, and the cost is quadratic
  if (name.empty() || name.size() > longest_name)
    return {};
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, (name.size() + 1) / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string hint(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr std::size_t shortest_begin = 3;
  const std::string nearest = nearest_name(name, candidates);
  std::string meant = nearest.empty() ? std::string() : "'" + nearest + "'";
  if (nearest.empty() && name.size() >= shortest_begin) { // a name that was not written out
    for (const std::string& candidate : candidates)
      meant += candidate.starts_with(name) ? (meant.empty() ? "'" : " or '") + candidate + "'" : "";
  }
  return meant.empty() ? meant : "; did you mean " + meant + "?";
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 24;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most)
    text += ", ...";
  return names.empty() ? "none" : text;
}

std::string quoted_path(const std::filesystem::path& path) {
  constexpr std::size_t longest_path = 1000;
  return excerpt(path.lexically_normal().string(), longest_path);
}

std::string excerpt(std::string_view text, std::size_t longest) {
  std::string safe = "\"";
  std::size_t i = 0;
  while (i < text.size() && i < longest) {
    const auto byte = static_cast<unsigned char>(text[i]);
    safe += byte < 0x20 || byte == 0x7f ? '?' : text[i];
    ++i;
  }
  if (i < text.size()) {
    // Do not cut a character of several bytes in two.
    while (i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0U) == 0x80U)
      safe += text[i++];
    safe += "...";
  }
  return safe + "\"";
}

} // namespace scenario
} // namespace contend
