// What traces are told of messages on their way through a process.
#pragma once

#include "core/engine.hpp"
#include "core/trace.hpp"
#include "models/matching/envelope.hpp"

namespace contend {

/// A poll has found a message; 0: what it has found is none.
inline void show_found(const SimThread& self, MessageNumber message) {
  if (TraceSink* const trace = self.engine().trace(); trace != nullptr) [[unlikely]] {
    trace->message_found(self, message, self.now());
  }
}

/// A message and a receive have found each other.
inline void show_match(const SimThread& self, const Envelope& envelope) {
  if (TraceSink* const trace = self.engine().trace(); trace != nullptr) [[unlikely]] {
    trace->message_matched(self, envelope.number, self.now());
  }
}

} // namespace contend
