// Who waits for whom in one run, summed up by roles of threads.
#pragma once

#include "core/contention_account.hpp"

#include <functional>
#include <string>
#include <vector>

namespace contend {

/// Threads of one role waited for a lock while threads of another held it.
struct RoleWait {
  std::string waiter;
  std::string holder; ///< empty: nobody held it, the time is that of the algorithm (hand-over, wake-up, cache lines)
  Duration time;
};

struct LockReport {
  std::string name;
  std::int64_t acquisitions = 0;
  std::int64_t contended = 0;
  std::int64_t refused = 0;
  std::int64_t delegated = 0; ///< see ContentionAccount::Use
  Duration wait;              ///< see ContentionAccount::Use
  Duration release;           ///< see ContentionAccount::Use
  Duration hold;
  std::vector<RoleWait> waits; ///< they add up to `wait`
};

struct QueueReport {
  std::string name;
  double mean = 0.0; ///< over time
  std::int64_t maximum = 0;
};

struct StageReport {
  std::string name;
  std::int64_t messages = 0;
  Duration busy;
  Duration queueing;
  Duration on_wire;
};

/// Everything is from the beginning of the timed part to the end of the run.
struct Explanation {
  Duration elapsed;
  std::vector<LockReport> locks;   ///< longest wait first
  std::vector<QueueReport> queues; ///< in order of first use
  std::vector<StageReport> stages; ///< in order of first use
};

/// Call it while what was watched still exists. `role_of` names the role of a thread.
[[nodiscard]] Explanation explain(const ContentionAccount& account, const Engine& engine,
                                  const std::function<std::string(const SimThread&)>& role_of);

} // namespace contend
