// What a thread spends its time on.
#pragma once

#include "core/engine.hpp"

#include <cstddef>

namespace contend::test {

inline void compute(SimThread& self, Duration span) { self.spend(span, Category::software); }

inline Duration total(const SimThread& thread) {
  Duration sum;
  for (const Duration time : thread.times()) {
    sum += time;
  }
  return sum;
}

inline Duration in(const SimThread& thread, Category category) {
  return thread.times()[static_cast<std::size_t>(category)];
}

} // namespace contend::test
