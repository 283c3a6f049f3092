// Messages of transports without a network interface, as a trace shows them: from the call that sends one to its match.
#pragma once

#include "core/engine.hpp"
#include "core/trace.hpp"

namespace contend {

/// Follows a message that `self` has sent by a call that began at `called`. Returns its number for the envelope; 0: no trace.
inline MessageNumber trace_sent(const SimThread& self, TimePoint called) {
  TraceSink* const trace = self.engine().trace();
  return trace == nullptr ? 0 : trace->message_sent(self, called);
}

/// Shows how many messages and reports wait for a poll.
inline void show_incoming(const Engine& engine, const TraceLabel& queue, std::int64_t length) {
  if (TraceSink* const trace = engine.trace(); trace != nullptr) [[unlikely]] {
    trace->length(queue, engine.now(), length);
  }
}

} // namespace contend
