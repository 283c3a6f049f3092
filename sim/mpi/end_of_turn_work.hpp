// What a thread does at the end of its turn of progress, besides polling instances.
#pragma once

#include "core/engine.hpp"

namespace contend {

class EndOfTurnWork {
public:
  virtual ~EndOfTurnWork() = default;
  /// Whether there is something that may succeed now. Costs nothing: a thread that rests is to see it.
  [[nodiscard]] virtual bool may_go() const = 0;
  /// Does what can be done. Returns how much that was.
  virtual int run(SimThread& self) = 0;
};

} // namespace contend
