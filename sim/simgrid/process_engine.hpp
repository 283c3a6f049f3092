// SimGrid allows one engine in a process; this is where it comes from.
#pragma once

#include <string>
#include <vector>

namespace contend {

/// True when this process has a SimGrid engine already.
[[nodiscard]] bool has_process_engine();

/// Makes the process's SimGrid engine, quiet about its configuration; SimGrid hands it out from then on. `options` are
/// SimGrid command line options. Its handlers of signals are taken out again: a library must not change what Ctrl-C does.
/// The engine is never destroyed. Requires: !has_process_engine().
void make_process_engine(std::vector<std::string> options);

} // namespace contend
