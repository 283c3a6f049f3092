// What a waiting thread and those who complete its requests share (Open MPI's wait_sync).
#pragma once

#include "core/cache_line.hpp"
#include "core/futex.hpp"

#include <string>
#include <string_view>

namespace contend {

/// Counts the requests that one thread waits for.
struct SyncObject {
  SyncObject(Engine& engine, const Host& host, std::string_view name)
      : line(engine, host, name), condition(engine, host, std::string(name) + "/condition") {}

  int pending = 0;       ///< requests that are not complete
  bool promoted = false; ///< the waiter has been made progress owner
  CacheLine line;        ///< where `pending` lives
  Futex condition;
};

} // namespace contend
