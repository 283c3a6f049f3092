#include "models/locks/ticket_lock.hpp"

#include <string>
#include <utility>

namespace contend {

TicketLock::TicketLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name)
    : Lock(engine, name), parameters_(parameters), ticket_line_(engine, host, name),
      serving_line_(engine, host, std::string(name) + "/now_serving") {}

void TicketLock::do_lock(SimThread& self, Category category) {
  ticket_line_.atomic(self, category);
  const std::uint64_t ticket = next_ticket_++;
  for (;;) {
    serving_line_.load(self, category);
    if (now_serving_ == ticket) {
      return;
    }
    spinning_.push_back(&self);
    self.wait(*this, category);
    self.spend(parameters_.pause, category);
  }
}

bool TicketLock::do_try_lock(SimThread& self, Category category) {
  ticket_line_.atomic(self, category); // cmpxchg(next_ticket, now_serving, now_serving + 1)
  if (next_ticket_ != now_serving_) {
    return false;
  }
  ++next_ticket_;
  return true;
}

void TicketLock::do_unlock(SimThread& self, Category category) {
  serving_line_.store(self, category);
  ++now_serving_;
  released();
  // Every spinner loses its copy and reads the line again.
  for (SimThread* thread : std::exchange(spinning_, {})) {
    thread->resume();
  }
}

void TicketLock::do_grant(SimThread& /*self*/) { ++next_ticket_; }

} // namespace contend
