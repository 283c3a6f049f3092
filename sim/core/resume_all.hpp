// Threads that wait for the same thing, and go on together.
#pragma once

#include "core/engine.hpp"

#include <vector>

namespace contend {

/// Resumes all, in order, and forgets them; the list keeps its memory. None of them runs before the caller stops.
inline void resume_all(std::vector<SimThread*>& threads) {
  for (SimThread* const thread : threads) {
    thread->resume();
  }
  threads.clear();
}

} // namespace contend
