// What a thread that shares its core does again and again without being simulated step by step.
#pragma once

#include "core/time.hpp"

#include <vector>

namespace contend {

/// Time in which nobody can take a thread's core away (SimThread::owe), from the start of what the thread repeats.
struct UninterruptedSpan {
  Duration begin;
  Duration end;
};

/// Where a thread is that is no longer taken to repeat itself.
struct RepeatedPlace {
  Duration at;   ///< from the start of what it repeats
  Duration goal; ///< where its own code goes on, not before `at`
  /// So much of the time of what its own code does from there on has passed by then: it runs again what it was in.
  Duration passed;
  const std::vector<UninterruptedSpan>* uninterrupted =
      nullptr; ///< in order; lives until the thread has come to its goal
};

/// A thread that repeats itself, see SimThread::repeat().
class Repetition {
public:
  virtual ~Repetition() = default;
  /// The operating system interferes with the thread at this moment, and the repetition is over.
  [[nodiscard]] virtual RepeatedPlace cut_short() = 0;
};

} // namespace contend
