// CLH queue lock: every waiter spins on the line of the one before it (Craig 1993; Magnusson, Landin and Hagersten 1994).
#pragma once

#include "models/locks/lock.hpp"
#include "models/locks/spinners.hpp"

#include <memory>
#include <vector>

namespace contend {

class ClhLock final : public Lock {
public:
  ClhLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name);

  [[nodiscard]] bool can_be_visited() const override { return false; }

private:
  struct Node {
    Node(Engine& engine, const Host& host, Duration pause, const std::string& name)
        : line(engine, host, name), spinner(line, pause) {}
    CacheLine line;
    Spinners spinner; ///< the thread behind
    bool locked = false;
  };

  void do_lock(SimThread& self, Category category) override;
  bool do_try_lock(SimThread& self, Category category) override;
  void do_unlock(SimThread& self, Category category) override;
  void do_grant(SimThread& self) override;

  Node* make_node();
  /// The node that the thread uses next: a thread leaves its own to the one behind and takes the one of the one before.
  Node*& node_of(SimThread& self);
  void append(Node& mine);

  const Host& host_;
  LockParameters parameters_;
  CacheLine tail_line_;
  std::vector<std::unique_ptr<Node>> all_;
  std::vector<Node*> nodes_; ///< by thread id
  Node* tail_;
  Node* before_holder_ = nullptr;
  std::uint64_t appended_ = 0; ///< the tag beside the tail pointer: a node that comes back is not taken for itself
};

} // namespace contend
