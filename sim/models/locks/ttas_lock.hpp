// Test-and-test-and-set spin lock with optional randomised exponential back-off (Anderson 1990).
#pragma once

#include "models/locks/lock.hpp"

#include <vector>

namespace contend {

class TtasLock final : public Lock {
public:
  TtasLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name);

private:
  void do_lock(SimThread& self, Category category) override;
  bool do_try_lock(SimThread& self, Category category) override;
  void do_unlock(SimThread& self, Category category) override;
  void do_grant(SimThread& self) override;

  LockParameters parameters_;
  bool held_ = false;
  CacheLine line_;
  std::vector<SimThread*> spinning_; ///< spin on their own copy of the line until it is invalidated
  RandomStream backoff_;
};

} // namespace contend
