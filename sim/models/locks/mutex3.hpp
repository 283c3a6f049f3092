// Drepper's third mutex ("Futexes are tricky", 2011): like pthread's, but a thread that finds sleepers goes to sleep
// without touching the word again, and unlocking is a decrement that is followed by a store where somebody sleeps.
#pragma once

#include "core/futex.hpp"
#include "models/locks/bypasses.hpp"
#include "models/locks/lock.hpp"

namespace contend {

class Mutex3 final : public Lock {
public:
  Mutex3(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name);

private:
  void do_lock(SimThread& self, Category category) override;
  bool do_try_lock(SimThread& self, Category category) override;
  void do_unlock(SimThread& self, Category category) override;
  void do_grant(SimThread& self) override;
  /// Nobody has the lock any more, unless it is somebody's turn.
  void give_back(SimThread& self, Category category, bool anybody_sleeps);

  int word_ = 0; ///< 0 free, 1 held, 2 held and somebody may sleep
  CacheLine line_;
  Futex futex_;
  Bypasses bypasses_;
};

} // namespace contend
