// Where a run can be watched: spans of simulated time per thread, and values over time.
#pragma once

#include "core/time.hpp"

#include <string_view>

namespace contend {

/// Receives what happens in simulated time. Calls come in order of end time per thread.
class TraceSink {
public:
  virtual ~TraceSink() = default;
  /// Thread `thread_id` did `what` from `begin` to `end`.
  virtual void span(int thread_id, std::string_view what, TimePoint begin, TimePoint end) = 0;
  /// `counter` has `value` from `time` on.
  virtual void value(std::string_view counter, TimePoint time, double value) = 0;
};

} // namespace contend
