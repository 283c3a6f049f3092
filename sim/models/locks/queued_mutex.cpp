#include "models/locks/queued_mutex.hpp"

#include <string>

namespace contend {

QueuedMutex::QueuedMutex(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name)
    : Lock(engine, name), host_(host), mutex_(engine, host, parameters, std::string(name) + "/mutex"),
      line_(engine, host, name) {}

QueuedMutex::Waiter& QueuedMutex::waiter_of(const SimThread& self) {
  return waiters_.of(self,
                     [&] { return std::make_unique<Waiter>(engine(), host_, name() + "/waiter/" + self.name()); });
}

void QueuedMutex::do_lock(SimThread& self, Category category) {
  mutex_.lock(self, category);
  line_.store(self, category);
  if (!held_) {
    held_ = true;
    mutex_.unlock(self, category);
    return;
  }
  Waiter& mine = waiter_of(self);
  mine.owner = false;
  queue_.push_back(&mine);
  do {
    mine.wake_up.wait(self, mutex_, category);
  } while (!mine.owner);
  line_.store(self, category);
  queue_.pop_front();
  mutex_.unlock(self, category);
}

/// An attempt does not even wait for who is about to queue up.
bool QueuedMutex::do_try_lock(SimThread& self, Category category) {
  if (!mutex_.try_lock(self, category)) {
    return false;
  }
  line_.store(self, category);
  const bool taken = !held_;
  held_ = true;
  mutex_.unlock(self, category);
  return taken;
}

void QueuedMutex::do_unlock(SimThread& self, Category category) {
  mutex_.lock(self, category);
  line_.load(self, category);
  released();
  if (queue_.empty()) {
    line_.store(self, category);
    held_ = false;
  } else {
    queue_.front()->owner = true;
    queue_.front()->wake_up.notify_one(self, category);
  }
  mutex_.unlock(self, category);
}

void QueuedMutex::do_grant(SimThread& /*self*/) { held_ = true; }

} // namespace contend
