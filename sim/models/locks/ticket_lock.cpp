#include "models/locks/ticket_lock.hpp"

#include <string>

namespace contend {

Tickets::Tickets(Engine& engine, const Host& host, std::string_view name, Duration turn, Spinners::Loop loop)
    : ticket_line_(engine, host, name), serving_line_(engine, host, std::string(name) + "/now_serving"),
      spinners_(serving_line_, turn, loop) {}

void Tickets::take(SimThread& self, Category category, const Waitable& reason) {
  ticket_line_.atomic(self, category);
  const std::uint64_t ticket = next_ticket_++;
  spinners_.wait(self, category, reason, [this, ticket] { return now_serving_ == ticket; });
}

bool Tickets::try_take(SimThread& self, Category category) {
  ticket_line_.atomic(self, category); // cmpxchg(next_ticket, now_serving, now_serving + 1)
  if (next_ticket_ != now_serving_) {
    return false;
  }
  ++next_ticket_;
  return true;
}

bool Tickets::others_wait(SimThread& self, Category category) {
  ticket_line_.load(self, category);
  return next_ticket_ > now_serving_ + 1;
}

} // namespace contend
