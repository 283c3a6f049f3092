// Ticket lock whose waiters all sleep on one condition variable: an unlock wakes every one of them.
#pragma once

#include "models/locks/condition_variable.hpp"
#include "models/locks/futex_word.hpp"
#include "models/locks/lock.hpp"

namespace contend {

class BlockingTicketLock final : public Lock {
public:
  BlockingTicketLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name);

  [[nodiscard]] bool can_be_visited() const override { return false; }

private:
  void do_lock(SimThread& self, Category category) override;
  bool do_try_lock(SimThread& self, Category category) override;
  void do_unlock(SimThread& self, Category category) override;
  void do_grant(SimThread& self) override;

  std::uint64_t next_ticket_ = 0;
  std::uint64_t now_serving_ = 0;
  CacheLine line_; ///< of both counters
  FutexWord mutex_;
  ConditionVariable served_;
};

} // namespace contend
