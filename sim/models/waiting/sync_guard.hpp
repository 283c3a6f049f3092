// What keeps a signaller and a waiter from using a sync object at the same time, see guarded_sleep_idling.hpp.
#pragma once

#include "core/cache_line.hpp"
#include "models/locks/condition_variable.hpp"
#include "models/locks/futex_word.hpp"
#include "models/locks/spinners.hpp"

#include <string>

namespace contend {

struct SyncGuard {
  SyncGuard(Engine& engine, const Host& host, const std::string& name)
      : mutex(engine, host, name + "/mutex"), condition(engine, host, name + "/signal"),
        line(engine, host, name + "/signalling"), leavers(line, host.cache().hit) {}

  FutexWord mutex;
  ConditionVariable condition;
  CacheLine line;          ///< where `signalling` lives
  Spinners leavers;        ///< the waiter, when it has to wait for the signaller
  bool idles = false;      ///< the waiter sleeps, or is about to
  bool signalling = false; ///< somebody has brought the count to 0, and is not done with the object
};

} // namespace contend
