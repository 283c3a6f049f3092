// A lock of two classes: who polls (Category::poll_idle) gets it when nobody who works wants it. Two ticket locks, one a
// class, and a third between the classes, which the first of those who work takes for all that queue behind it (Amer, Lu,
// Wei, Balaji and Matsuoka 2015, "MPI+Threads: runtime contention and remedies").
#pragma once

#include "models/locks/ticket_lock.hpp"

namespace contend {

class PriorityLock final : public Lock {
public:
  PriorityLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name);

  [[nodiscard]] bool can_be_visited() const override { return false; }

private:
  void do_lock(SimThread& self, Category category) override;
  bool do_try_lock(SimThread& self, Category category) override;
  void do_unlock(SimThread& self, Category category) override;
  void do_grant(SimThread& self) override;

  Tickets high_;           ///< among those who work
  Tickets low_;            ///< among those who poll
  Tickets block_;          ///< between the classes
  bool blocks_ = false;    ///< those who work have block_, one after another; guarded by high_
  bool by_poller_ = false; ///< class of the holder, or of the last one
};

} // namespace contend
