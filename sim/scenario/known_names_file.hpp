// The registered names as a file (schemas/names.json), for tools that do not link the engine.
#pragma once

#include "scenario/names.hpp"

#include <filesystem>

namespace contend {

/// Reads an object with a list of names for each of the members of KnownNames: {"locks": [...], "matching": [...], ..., "traits":
/// {"own_thread": [...], ...}}. Throws ScenarioError when a list is missing or anything else is there.
[[nodiscard]] KnownNames read_known_names(const std::filesystem::path& file);

} // namespace contend
