#include "models/locks/blocking_ticket_lock.hpp"

#include <string>

namespace contend {

BlockingTicketLock::BlockingTicketLock(Engine& engine, const Host& host, const LockParameters& /*parameters*/,
                                       std::string_view name)
    : Lock(engine, name), line_(engine, host, name), mutex_(engine, host, std::string(name) + "/mutex"),
      served_(engine, host, std::string(name) + "/served") {}

void BlockingTicketLock::do_lock(SimThread& self, Category category) {
  line_.atomic(self, category);
  const std::uint64_t ticket = next_ticket_++;
  line_.load(self, category);
  if (now_serving_ == ticket) {
    return;
  }
  mutex_.lock(self, category);
  for (;;) {
    line_.load(self, category);
    if (now_serving_ == ticket) {
      break;
    }
    served_.wait(self, mutex_, category);
  }
  mutex_.unlock(self, category);
}

bool BlockingTicketLock::do_try_lock(SimThread& self, Category category) {
  // cmpxchg(next_ticket, now_serving, now_serving + 1)
  if (!line_.compare(self, category, [this] { return next_ticket_ == now_serving_; })) {
    return false;
  }
  ++next_ticket_;
  return true;
}

void BlockingTicketLock::do_unlock(SimThread& self, Category category) {
  mutex_.lock(self, category);
  line_.release(self, category);
  ++now_serving_;
  released();
  if (now_serving_ < next_ticket_) {
    served_.notify_all(self, category);
  }
  mutex_.unlock(self, category);
}

void BlockingTicketLock::do_grant(SimThread& /*self*/) { ++next_ticket_; }

} // namespace contend
