#include "models/locks/lock.hpp"

namespace contend {

std::string Lock::describe() const {
  return "lock '" + name_ + "' held by " + (holder_ == nullptr ? "nobody" : holder_->name());
}

void Lock::acquired(SimThread& self) {
  if (holder_ != nullptr) {
    throw InvariantViolation("lock '" + name_ + "' was given to " + self.name() + " while " + holder_->name() +
                             " holds it");
  }
  holder_ = &self;
  ++acquisitions_;
}

void Lock::lock(SimThread& self, Category category) {
  touch();
  if (holder_ == &self) {
    throw InvariantViolation(self.name() + " locks '" + name_ + "' twice");
  }
  contended_ += holder_ != nullptr ? 1 : 0;
  ++calls_;
  do_lock(self, category);
  --calls_;
  acquired(self);
}

bool Lock::try_lock(SimThread& self, Category category) {
  touch();
  ++calls_;
  const bool taken = do_try_lock(self, category);
  --calls_;
  if (taken) {
    acquired(self);
  }
  return taken;
}

void Lock::unlock(SimThread& self, Category category) {
  if (holder_ != &self) {
    throw InvariantViolation("lock '" + name_ + "' is unlocked by " + self.name() + ", which does not hold it");
  }
  holder_ = nullptr;
  ++calls_;
  do_unlock(self, category);
  --calls_;
}

void Lock::grant(SimThread& visitor_thread) {
  acquired(visitor_thread); // refuses before the algorithm's state changes
  do_grant(visitor_thread);
}

} // namespace contend
