// No lock at all: for what only one thread can reach (MPI_THREAD_SINGLE), or what another lock guards already. It costs
// nothing, and a second thread in the critical section is an error of the model.
#pragma once

#include "models/locks/lock.hpp"

namespace contend {

/// Not in the registry: a design does not choose it, it follows from thread level and critical sections.
class NoLock final : public Lock {
public:
  NoLock(Engine& engine, std::string_view name) : Lock(engine, name) {}

private:
  void do_lock(SimThread& /*self*/, Category /*category*/) override {} // a second holder is refused by Lock
  bool do_try_lock(SimThread& /*self*/, Category /*category*/) override { return true; }
  void do_unlock(SimThread& /*self*/, Category /*category*/) override {}
  void do_grant(SimThread& /*self*/) override {}
};

} // namespace contend
