// What happens at a time: what the event queue refers to.
#pragma once

#include "core/event_key.hpp"

namespace contend {

class Engine;

/// What an entry of the event queue refers to.
class Target {
public:
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

protected:
  Target(Engine& engine, bool is_thread);
  ~Target();

  Engine& engine_;

private:
  friend class Engine;
  Target* next_ready_ = nullptr;
  TargetSlot slot_;
  bool is_thread_;
};

/// Something that happens at a time without a thread of its own (a message arrives). It may be scheduled again while an older
/// date is pending: no date is taken back, so fire() runs at each of them, and has to ignore those that hold no longer.
class Event : public Target {
public:
  explicit Event(Engine& engine) : Target(engine, false) {}
  virtual ~Event() = default;
  /// Runs on whatever stack is active: must not block.
  virtual void fire() = 0;
};

} // namespace contend
