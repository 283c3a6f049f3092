// Who waits for whom in one run, summed up by roles of threads.
#pragma once

#include "core/contention_account.hpp"

#include <functional>
#include <string>
#include <utility>
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

/// Threads of one role waited at a place for what threads of another did in the end.
struct PlaceWait {
  std::string waiter;
  Category category = Category::blocked;
  std::string awaited; ///< empty: nobody, the time is that of waking up, cache lines and calls
  std::string how;     ///< empty for nobody
  Duration time;
};

/// A thread that others have waited for.
struct AwaitedThread {
  std::string name;
  std::string how;
  std::int64_t times = 0; ///< see WaitAccount::PlaceAccount::answers
  Duration time;          ///< of all who waited for it
};

/// Where threads wait for each other without a lock, see WaitAccount.
struct PlaceReport {
  std::string name;
  std::int64_t waits = 0;
  Duration wait;
  std::vector<PlaceWait> by_role;                       ///< they add up to `wait`
  std::vector<AwaitedThread> awaited;                   ///< longest first; nobody is not among them
  std::vector<std::pair<Category, Duration>> meanwhile; ///< what they did while others waited
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
  std::vector<PlaceReport> places; ///< longest wait first
  std::vector<QueueReport> queues; ///< in order of first use
  std::vector<StageReport> stages; ///< in order of first use
};

/// Call it while what was watched still exists. `role_of` names the role of a thread.
[[nodiscard]] Explanation explain(const ContentionAccount& account, const Engine& engine,
                                  const std::function<std::string(const SimThread&)>& role_of);

} // namespace contend
