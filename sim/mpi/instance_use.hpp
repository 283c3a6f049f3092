// Which instances a process's threads met at, where messages and not threads decide.
#pragma once

#include "core/engine.hpp"

namespace contend {

/// Of what threads sent of their own: barriers and the like do not count.
class InstanceUse {
public:
  void note(const SimThread& thread, int instance) {
    several_threads_ = several_threads_ || (thread_ != nullptr && thread_ != &thread);
    several_instances_ = several_instances_ || (instance_ != none && instance_ != instance);
    thread_ = &thread;
    instance_ = instance;
  }

  [[nodiscard]] bool threads_met_at_one() const { return several_threads_ && !several_instances_; }

private:
  static constexpr int none = -1;

  const SimThread* thread_ = nullptr; ///< who sent last
  int instance_ = none;               ///< through which
  bool several_threads_ = false;
  bool several_instances_ = false;
};

} // namespace contend
