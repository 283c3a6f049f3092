// What a fuzzer does with one input: load it, and check what must hold for any input.
#pragma once

#include <string_view>

namespace contend::test {

/// Loads `text` as a scenario beside the valid ones of the tests. Accepts a ScenarioError; when it loads, the resolved
/// document must load to itself. Returns whether it loaded; throws std::logic_error when a property does not hold.
bool exercise_loader(std::string_view text);

} // namespace contend::test
