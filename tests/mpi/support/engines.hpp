// Progress engines by what the caller may expect of them.
#pragma once

#include "models/progress/progress_engine.hpp"

#include <string>
#include <vector>

namespace contend::test {

/// What an engine says of itself.
inline const ProgressTraits& traits_of(const std::string& engine) { return progress_registry().at(engine).traits(); }

/// All but those that leave the work of a call to another thread, and so make it take effect later.
inline std::vector<std::string> engines_that_act_at_once() {
  std::vector<std::string> names = progress_registry().names();
  std::erase_if(names, [](const std::string& name) { return traits_of(name).own_thread; });
  return names;
}

} // namespace contend::test
