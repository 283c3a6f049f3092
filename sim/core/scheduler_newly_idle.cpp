// A core that has just fallen idle: whether it looks for a thread that waits elsewhere, and where (sched_balance_newidle()).
#include "core/scheduler_parts.hpp"

#include <algorithm>

namespace contend {

/// Nobody has the core any more, and nobody waits for it.
void Scheduler::begin_idle(Core& core) {
  core.is_idle = true;
  core.idle_since = now();
}

/// A thread gets the core. Of its last idle times a core keeps an average in which the last one has a weight of an eighth, of at most
/// twice what hot caches last (rq->avg_idle).
void Scheduler::end_idle(Core& core) {
  if (core.is_idle && core.last != nullptr) { // it had idled for long before the first one
    constexpr std::int64_t weight = 8;
    const Duration further = now() - core.idle_since - core.idle_average;
    core.idle_average += Duration::picoseconds(further.count() / weight);
    core.idle_average = std::min(core.idle_average, parameters_.cache_hot * 2);
  }
  core.is_idle = false;
}

/// Up to Linux 5.15 a core that idles for shorter, in the mean, than moving a thread is thought to cost does not look at all, since
/// something will come soon. (Later ones compare with what looking itself takes: microseconds, which are not modelled.)
bool Scheduler::idles_for_moments(const Core& core) const {
  return parameters_.policy == "cfs" && core.idle_average < parameters_.cache_hot;
}

/// A core that has become idle takes a thread of another one, if it looks for one: domain by domain, the inner ones first, on the
/// longest queue that has one for it. Returns whether it found one.
bool Scheduler::pull(Core& core) {
  const bool somebody_waits =
      std::any_of(cores_.begin(), cores_.end(), [](const auto& one) { return !one->queue->waiting().empty(); });
  if (!somebody_waits || idles_for_moments(core)) {
    return false;
  }
  for (Look& look : core.looks) {
    if (!look.newly_idle.looks(newly_idle_)) {
      continue;
    }
    const bool found = pull(core, look);
    look.newly_idle.found(found);
    if (found) {
      return true;
    }
  }
  return false;
}

/// The same in other groups of one domain.
bool Scheduler::pull(Core& core, Look& look) {
  Core* from = nullptr;
  Task* task = nullptr;
  for (std::size_t group = 0; group < look.domain->groups.size(); ++group) {
    for (Core* const other : look.domain->groups[group]) {
      if (group == look.group || (from != nullptr && other->queue->length() <= from->queue->length())) {
        continue;
      }
      if (Task* const found = candidate(*other, core, look); found != nullptr) {
        from = other;
        task = found;
      }
    }
  }
  if (task == nullptr) {
    return false;
  }
  look.failed = 0;
  move(*from, core, *task);
  return true;
}

} // namespace contend
