// A message that a handler takes at its destination, without matching.
#pragma once

#include "core/engine.hpp"

namespace contend {

/// What an Envelope with Header::active is about. Lives until it has arrived.
class ActiveMessage {
public:
  virtual ~ActiveMessage() = default;
  /// The destination has it. Runs on the thread that polls there, under the lock of the context, and may spend time; it must
  /// not wait for other messages.
  virtual void arrived(SimThread& self) = 0;
};

} // namespace contend
