#include "models/locks/ticket_lock.hpp"

#include <string>

namespace contend {

Tickets::Tickets(Engine& engine, const Host& host, std::string_view name, Duration turn, Spinners::Loop loop, int lines)
    : serving_line_(engine, host, std::string(name) + "/now_serving"), spinners_(serving_line_, turn, loop) {
  if (lines == 2) {
    own_line_.emplace(engine, host, name);
  }
}

void Tickets::take(SimThread& self, Category category, const Waitable& reason) {
  ticket_line().atomic(self, category);
  const std::uint64_t ticket = next_ticket_++;
  spinners_.wait(self, category, reason, [this, ticket] { return now_serving_ == ticket; });
}

bool Tickets::try_take(SimThread& self, Category category) {
  // cmpxchg(next_ticket, now_serving, now_serving + 1)
  if (!ticket_line().compare(self, category, [this] { return next_ticket_ == now_serving_; })) {
    return false;
  }
  ++next_ticket_;
  return true;
}

bool Tickets::others_wait(SimThread& self, Category category) {
  ticket_line().load(self, category);
  return next_ticket_ > now_serving_ + 1;
}

} // namespace contend
