// A fair mutex of a queue, under a pthread mutex: every waiter sleeps on a condition variable of its own, and an unlock
// hands the lock to the first.
#pragma once

#include "core/ring_queue.hpp"
#include "models/locks/by_thread.hpp"
#include "models/locks/condition_variable.hpp"
#include "models/locks/lock.hpp"
#include "models/locks/pthread_word.hpp"

namespace contend {

class QueuedMutex final : public Lock {
public:
  QueuedMutex(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name);

  [[nodiscard]] bool can_be_visited() const override { return false; }

private:
  struct Waiter {
    Waiter(Engine& engine, const Host& host, const std::string& name) : wake_up(engine, host, name) {}
    ConditionVariable wake_up;
    bool owner = false;
  };

  void do_lock(SimThread& self, Category category) override;
  bool do_try_lock(SimThread& self, Category category) override;
  void do_unlock(SimThread& self, Category category) override;
  void do_grant(SimThread& self) override;
  [[nodiscard]] Waiter& waiter_of(const SimThread& self);

  const Host& host_;
  PthreadWord mutex_;
  CacheLine line_; ///< of the queue's head and the flag
  bool held_ = false;
  RingQueue<Waiter*> queue_;
  ByThread<Waiter> waiters_;
};

} // namespace contend
