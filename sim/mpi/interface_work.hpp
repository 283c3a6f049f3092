// What a thread does in a turn of progress with an interface that it has just polled, under the interface's lock.
#pragma once

#include "core/engine.hpp"

namespace contend {

class InterfaceWork {
public:
  virtual ~InterfaceWork() = default;
  /// Whether there is something to do or to try: no thread rests then.
  [[nodiscard]] virtual bool waiting_at(int instance) const = 0;
  /// Does what can be done. Returns how much that was. Requires: the caller has the instance's lock.
  virtual int run(SimThread& self, int instance) = 0;
};

} // namespace contend
