// Linux's queued spin lock: one waiter spins on the lock word (the pending bit), further ones queue up as in an MCS lock,
// and the first of the queue spins on the word (kernel/locking/qspinlock.c).
#pragma once

#include "models/locks/lock.hpp"
#include "models/locks/spinners.hpp"

#include <memory>
#include <vector>

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

  [[nodiscard]] bool take_pending(SimThread& self, Category category);
  void queue_up(SimThread& self, Category category);
  Node& node_of(SimThread& self);

  const Host& host_;
  LockParameters parameters_;
  bool held_ = false;
  bool pending_ = false;
  Node* tail_ = nullptr;
  CacheLine word_; ///< of the three above
  Spinners spinners_;
  std::vector<std::unique_ptr<Node>> nodes_; ///< by thread id
};

} // namespace contend
