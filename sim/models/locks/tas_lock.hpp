// Test-and-set spin lock: every attempt takes the line (Anderson 1990).
#pragma once

#include "models/locks/lock.hpp"

namespace contend {

class TasLock final : public Lock {
public:
  TasLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name);

private:
  void do_lock(SimThread& self, Category category) override;
  bool do_try_lock(SimThread& self, Category category) override;
  void do_unlock(SimThread& self, Category category) override;
  void do_grant(SimThread& self) override;

  LockParameters parameters_;
  bool held_ = false;
  CacheLine line_;
};

} // namespace contend
