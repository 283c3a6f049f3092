// Runs a function in n threads and waits for all of them.
#pragma once

#include <functional>

namespace contend::native {

/// body(0) … body(threads - 1), each in a thread of its own; thread 0 is the calling one, because MPI libraries without full
/// thread support let only the thread that initialised them call. An exception ends the process: the others may wait for
/// the one that threw.
/// `created`, if any, is called by thread 0 after it has created each of the others.
void run_team(int threads, const std::function<void(int)>& body, const std::function<void()>& created = {});

} // namespace contend::native
