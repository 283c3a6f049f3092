// Linux's queued spin lock: one waiter spins on the lock word (the pending bit), further ones queue up as in an MCS lock,
// and the first of the queue spins on the word (kernel/locking/qspinlock.c).
#pragma once

#include "models/locks/by_thread.hpp"
#include "models/locks/lock.hpp"
#include "models/locks/spinners.hpp"

namespace contend {

class QueuedSpinlock final : public Lock {
public:
  QueuedSpinlock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name);

  [[nodiscard]] bool can_be_visited() const override { return false; }

private:
  struct Node {
    Node(Engine& engine, const Host& host, Duration pause, const std::string& name)
        : line(engine, host, name), spinner(line, pause) {}
    CacheLine line;
    Spinners spinner;
    Node* next = nullptr;
    bool first = false; ///< of the queue
  };

  void do_lock(SimThread& self, Category category) override;
  bool do_try_lock(SimThread& self, Category category) override;
  void do_unlock(SimThread& self, Category category) override;
  void do_grant(SimThread& self) override;

  [[nodiscard]] bool taken() const { return held_ || pending_ || tail_ != nullptr; }
  [[nodiscard]] bool take_pending(SimThread& self, Category category);
  void queue_up(SimThread& self, Category category);
  [[nodiscard]] Node& node_of(const SimThread& self);

  const Host& host_;
  LockParameters parameters_;
  bool held_ = false;
  bool pending_ = false;
  Node* tail_ = nullptr;
  CacheLine word_; ///< of the three above
  Spinners spinners_;
  ByThread<Node> nodes_;
};

} // namespace contend
