// Ticket lock: first come, first served (Mellor-Crummey and Scott 1991, section 2.2).
#pragma once

#include "models/locks/lock.hpp"

#include <vector>

namespace contend {

class TicketLock final : public Lock {
public:
  TicketLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name);

private:
  void do_lock(SimThread& self, Category category) override;
  bool do_try_lock(SimThread& self, Category category) override;
  void do_unlock(SimThread& self, Category category) override;
  void do_grant(SimThread& self) override;

  LockParameters parameters_;
  std::uint64_t next_ticket_ = 0;
  std::uint64_t now_serving_ = 0;
  CacheLine ticket_line_;
  CacheLine serving_line_;
  std::vector<SimThread*> spinning_;
};

} // namespace contend
