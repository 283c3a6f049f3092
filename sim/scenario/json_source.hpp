// Reads JSON text strictly: RFC 8259 in UTF-8, no byte order mark, no comments, no duplicate keys, bounded in every way.
#pragma once

#include "scenario/node.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace contend::scenario {

/// Bounds that keep any input harmless. A scenario or profile needs a small fraction of each.
struct JsonLimits {
  static constexpr std::size_t bytes = std::size_t{8} * 1024 * 1024;
  static constexpr std::size_t depth = 32;
  static constexpr std::size_t keys_per_object = 1000;
  static constexpr std::size_t key_bytes = 256;
  static constexpr std::size_t values = 1'000'000;
};

/// Parses a whole text. Throws ScenarioError with line and column.
[[nodiscard]] Node parse_json(std::string_view text, const SourcePointer& source);

/// Turns a value already in memory into nodes without line numbers.
[[nodiscard]] Node to_node(const nlohmann::ordered_json& value, const SourcePointer& source);

/// Why a path names no regular file; empty when it names one.
[[nodiscard]] std::string file_problem(const std::filesystem::path& path);

/// The bytes of a regular file of at most JsonLimits::bytes. Throws ScenarioError, reported at `referrer` when given.
[[nodiscard]] std::string read_text_file(const std::filesystem::path& path, const Node* referrer = nullptr,
                                         const std::string& pointer = {});

} // namespace contend::scenario
