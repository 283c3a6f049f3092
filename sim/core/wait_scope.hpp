// Waits of threads for each other, for a trace.
#pragma once

#include "core/engine.hpp"

#include <string_view>

namespace contend {

/// A thread waits at a place during a block. Blocks do not nest.
class WaitScope {
public:
  WaitScope(SimThread& self, const TraceLabel& place) : self_(self) {
    if (TraceSink* const trace = self.engine().trace(); trace != nullptr) [[unlikely]] {
      trace->wait_began(self, place, self.now());
    }
  }
  ~WaitScope() {
    if (TraceSink* const trace = self_.engine().trace(); trace != nullptr) [[unlikely]] {
      trace->wait_over(self_, self_.now());
    }
  }
  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;

  /// `by` has done, at `time`, what `waiter` (by id) waits for if it is at `place`. See TraceSink::wait_answered.
  static void answer(const TraceLabel& place, int waiter, const SimThread& by, std::string_view how, TimePoint time) {
    if (TraceSink* const trace = by.engine().trace(); trace != nullptr) [[unlikely]] {
      trace->wait_answered(place, waiter, by, how, time);
    }
  }
  /// The same for all who wait there.
  static void answer_all(const TraceLabel& place, const SimThread& by, std::string_view how, TimePoint time) {
    answer(place, TraceSink::everybody, by, how, time);
  }

private:
  SimThread& self_;
};

/// A thread does during a block what those wait for who are at a place. Blocks do not nest.
class ServiceScope {
public:
  ServiceScope(SimThread& self, const TraceLabel& place) : self_(self) {
    if (TraceSink* const trace = self.engine().trace(); trace != nullptr) [[unlikely]] {
      trace->service_began(self, place, self.now());
    }
  }
  ~ServiceScope() {
    if (TraceSink* const trace = self_.engine().trace(); trace != nullptr) [[unlikely]] {
      trace->service_over(self_, self_.now());
    }
  }
  ServiceScope(const ServiceScope&) = delete;
  ServiceScope& operator=(const ServiceScope&) = delete;

private:
  SimThread& self_;
};

// What an answer can be.
inline constexpr std::string_view arrived_last = "arrived last";     ///< at a barrier
inline constexpr std::string_view sent_a_message = "sent a message"; ///< to a thread that polls
inline constexpr std::string_view requests_completed = "completed requests";

} // namespace contend
