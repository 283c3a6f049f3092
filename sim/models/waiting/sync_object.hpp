// What a waiting thread and those who complete its requests share (Open MPI's wait_sync).
#pragma once

#include "core/cache_line.hpp"
#include "core/futex.hpp"
#include "models/waiting/sync_guard.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

class Notification;

/// Counts the requests that one thread waits for.
struct SyncObject {
  /// `thread`: id of the one that waits with it.
  SyncObject(Engine& engine, const Host& host, std::string_view name, int thread = -1)
      : waiter(thread), line(engine, host, name), condition(engine, host, std::string(name) + "/condition"),
        guard(engine, host, std::string(name)) {}

  /// The waiter looks how far its requests are; `pending` is what it saw.
  void look(SimThread& self, Category category);
  /// The waiter has nothing to do but to wait for others.
  [[nodiscard]] bool idles() const { return pending > 0 && !promoted; }

  int waiter;                           ///< id of a thread
  int pending = 0;                      ///< completions to wait for; below 0: there were more than that
  bool promoted = false;                ///< the waiter may make progress; engines whose threads idle set and reset it
  SimThread* spinning = nullptr;        ///< the waiter, when it spins on `line` until the line is written
  std::vector<int> targets;             ///< instances that the requests belong to, where the design says so
  Notification* notification = nullptr; ///< how the waiter learns of completions; none: by the counter
  CacheLine line;                       ///< where `pending` lives
  Futex condition;
  SyncGuard guard; ///< of those who sleep with a mutex
  // Of a waiter that reads the flags of its requests:
  int requests = 0;    ///< how many
  int core = 0;        ///< where it reads them
  Duration to_fetch{}; ///< for lines that others have written since its last look
};

} // namespace contend
