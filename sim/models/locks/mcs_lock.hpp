// MCS queue lock: every waiter spins on a line of its own (Mellor-Crummey and Scott 1991, section 2.4).
#pragma once

#include "models/locks/by_thread.hpp"
#include "models/locks/lock.hpp"
#include "models/locks/spinners.hpp"

namespace contend {

class McsLock final : public Lock {
public:
  McsLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name);

private:
  /// A thread's place in the queue of this lock.
  struct Node {
    Node(Engine& engine, const Host& host, Duration pause, std::string_view name)
        : line(engine, host, name), spinner(line, pause) {}
    CacheLine line;
    Spinners spinner; ///< the node's own thread, or nobody
    Node* next = nullptr;
    bool locked = false;
  };

  void do_lock(SimThread& self, Category category) override;
  bool do_try_lock(SimThread& self, Category category) override;
  void do_unlock(SimThread& self, Category category) override;
  void do_grant(SimThread& self) override;
  [[nodiscard]] Node& node_of(const SimThread& self);

  const Host& host_;
  LockParameters parameters_;
  Node* tail_ = nullptr;
  CacheLine tail_line_;
  ByThread<Node> nodes_;
};

} // namespace contend
