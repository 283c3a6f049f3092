#include "models/locks/lock.hpp"

#include <algorithm>

namespace contend {

/// A thread that keeps all others out is named whether it holds the lock at this moment or not.
std::string Lock::describe() const {
  constexpr std::uint64_t long_row = 1000;
  std::string text = "lock '" + label_.name + "' held by " + (holder_ == nullptr ? "nobody" : holder_->name());
  if (const std::uint64_t row = acquisitions_ - others_until_; row >= long_row) {
    text += ", taken by " + last_->name() + " " + std::to_string(row) + " times in a row";
  }
  return text;
}

void Lock::acquired(SimThread& self, Category charged_to) {
  if (holder_ != nullptr && holder_ != releasing_) {
    throw InvariantViolation("lock '" + label_.name + "' was given to " + self.name() + " while " + holder_->name() +
                             " holds it");
  }
  if (holder_ != nullptr) {
    released();
  }
  holder_ = &self;
  if (last_ != &self) {
    last_ = &self;
    others_until_ = acquisitions_;
  }
  ++acquisitions_;
  if (TraceSink* const trace = engine_.trace(); trace != nullptr) [[unlikely]] {
    trace->lock_acquired(self, label_, charged_to, self.now());
  }
}

void Lock::guards(const Host& host, int lines) {
  guarded_ = std::make_unique<CacheLine>(engine_, host, label_.name + "/guarded");
  guarded_lines_ = lines;
}

void Lock::lock(SimThread& self, Category if_free) { take(self, if_free, nullptr); }

void Lock::execute(SimThread& self, const Section& section, Category if_free) {
  if (take(self, if_free, &section)) {
    section(self);
    unlock(self, if_free);
  }
}

bool Lock::take(SimThread& self, Category if_free, const Section* section) {
  disturb_visitor();
  if (holder_ == &self) {
    throw InvariantViolation(self.name() + " locks '" + label_.name + "' twice");
  }
  if (TraceSink* const trace = engine_.trace(); trace != nullptr) [[unlikely]] {
    trace->lock_requested(self, label_, self.now());
  }
  const bool finds_holder = holder_ != nullptr || engine_.now() < leaving_until_;
  const TimePoint asked = self.now();
  const Duration charged_before = self.charged(if_free);
  ++calls_;
  const bool mine = section == nullptr ? (do_lock(self, if_free), true) : do_lock_or_delegate(self, if_free, *section);
  --calls_;
  Category charged_to = if_free;
  if (if_free != Category::lock_wait && std::max(held_until_, leaving_until_) > asked) {
    charged_to = Category::lock_wait;
    self.reclassify(self.charged(if_free) - charged_before, if_free, charged_to, charged_before);
  }
  if (mine) {
    contended_ += finds_holder ? 1 : 0;
    acquired(self, charged_to);
    write_shared_lines(self);
    fetch_guarded(self, charged_to);
    return true;
  }
  ++delegated_;
  if (TraceSink* const trace = engine_.trace(); trace != nullptr) [[unlikely]] {
    trace->lock_delegated(self, label_, charged_to, self.now());
  }
  return false;
}

bool Lock::try_lock(SimThread& self, Category category) {
  disturb_visitor();
  ++calls_;
  const bool taken = do_try_lock(self, category);
  --calls_;
  if (taken) {
    acquired(self, category);
    write_shared_lines(self);
    fetch_guarded(self, category);
  } else if (TraceSink* const trace = engine_.trace(); trace != nullptr) [[unlikely]] {
    trace->lock_refused(self, label_, self.now());
  }
  return taken;
}

void Lock::unlock(SimThread& self, Category category) {
  if (holder_ != &self) {
    throw InvariantViolation("lock '" + label_.name + "' is unlocked by " + self.name() + ", which does not hold it");
  }
  if (TraceSink* const trace = engine_.trace(); trace != nullptr) [[unlikely]] {
    trace->lock_released(self, label_, self.now());
  }
  releasing_ = &self;
  ++calls_;
  write_shared_lines(self);
  do_unlock(self, category);
  --calls_;
  if (holder_ == &self) {
    released();
  }
  if (TraceSink* const trace = engine_.trace(); trace != nullptr) [[unlikely]] {
    trace->unlock_done(self, label_, category, self.now());
  }
}

void Lock::serve(SimThread& self, const Section& section) {
  if (TraceSink* const trace = engine_.trace(); trace != nullptr) [[unlikely]] {
    trace->lock_service_began(self, label_, self.now());
  }
  section(self);
  if (TraceSink* const trace = engine_.trace(); trace != nullptr) [[unlikely]] {
    trace->lock_service_over(self, label_, self.now());
  }
}

void Lock::grant(SimThread& visitor_thread) {
  acquired(visitor_thread, Category::poll_idle); // refuses before the algorithm's state changes
  do_grant(visitor_thread);
}

} // namespace contend
