#include "models/locks/priority_lock.hpp"

#include <string>

namespace contend {

PriorityLock::PriorityLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name)
    : Lock(engine, name), high_(engine, host, std::string(name) + "/high", parameters.pause),
      low_(engine, host, std::string(name) + "/low", parameters.pause), block_(engine, host, name, parameters.pause) {}

void PriorityLock::do_lock(SimThread& self, Category category) {
  if (category == Category::poll_idle) {
    low_.take(self, category, *this);
    block_.take(self, category, *this);
    by_poller_ = true;
    return;
  }
  high_.take(self, category, *this);
  if (!blocks_) {
    block_.take(self, category, *this);
    blocks_ = true;
  }
  by_poller_ = false;
}

bool PriorityLock::do_try_lock(SimThread& self, Category category) {
  const bool polls = category == Category::poll_idle;
  Tickets& own = polls ? low_ : high_;
  if (!own.try_take(self, category)) {
    return false;
  }
  if (!block_.try_take(self, category)) {
    own.give(self, category);
    return false;
  }
  blocks_ = !polls;
  by_poller_ = polls;
  return true;
}

void PriorityLock::do_unlock(SimThread& self, Category category) {
  if (by_poller_) {
    block_.give(self, category, [this] { released(); });
    low_.give(self, category);
    return;
  }
  if (!high_.others_wait(self, category)) {
    blocks_ = false;
    block_.give(self, category, [this] { released(); });
    high_.give(self, category);
    return;
  }
  high_.give(self, category, [this] { released(); });
}

void PriorityLock::do_grant(SimThread& /*self*/) {
  (by_poller_ ? low_ : high_).grant();
  block_.grant();
  blocks_ = !by_poller_;
}

} // namespace contend
