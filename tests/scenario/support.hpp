// What the loader tests share: where the data lies, and options with a resolver that needs no platform library.
#pragma once

#include "scenario/loader.hpp"

#include <filesystem>
#include <string>

namespace contend::test {

/// tests/scenario in the source tree.
[[nodiscard]] inline std::filesystem::path data_directory() { return CONTEND_SCENARIO_TEST_DATA; }

/// The repository root.
[[nodiscard]] inline std::filesystem::path repository() { return data_directory().parent_path().parent_path(); }

/// The names that the committed schemas are made for, the profiles of the tests, and hosts node0, node1 (20 cores) and
/// small (4 cores) in whatever platform is asked for.
[[nodiscard]] LoadOptions load_options();

/// The whole file; fails the test when it cannot be read.
[[nodiscard]] std::string slurp(const std::filesystem::path& file);

} // namespace contend::test
