// What a waiting thread and those who complete its requests share (Open MPI's wait_sync).
#pragma once

#include "core/cache_line.hpp"
#include "core/futex.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Counts the requests that one thread waits for.
struct SyncObject {
  /// `thread`: id of the one that waits with it.
  SyncObject(Engine& engine, const Host& host, std::string_view name, int thread = -1)
      : waiter(thread), line(engine, host, name), condition(engine, host, std::string(name) + "/condition") {}

  int waiter;                    ///< id of a thread
  int pending = 0;               ///< requests that are not complete
  bool promoted = false;         ///< the waiter has been made progress owner
  SimThread* spinning = nullptr; ///< the waiter, when it spins on `line` until the line is written
  std::vector<int> targets;      ///< instances that the requests belong to, where the design says so
  CacheLine line;                ///< where `pending` lives
  Futex condition;
};

} // namespace contend
