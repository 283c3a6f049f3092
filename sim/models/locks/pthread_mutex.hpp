// The default pthread mutex of glibc: a three-state futex lock without spinning (Drepper, "Futexes are tricky", mutex 2;
// glibc lowlevellock).
#pragma once

#include "core/futex.hpp"
#include "models/locks/lock.hpp"

namespace contend {

class PthreadMutex final : public Lock {
public:
  PthreadMutex(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name);

private:
  enum class State { free, locked, locked_with_sleepers };

  void do_lock(SimThread& self, Category category) override;
  bool do_try_lock(SimThread& self, Category category) override;
  void do_unlock(SimThread& self, Category category) override;
  void do_grant(SimThread& self) override;

  State state_ = State::free;
  CacheLine line_;
  Futex futex_;
};

} // namespace contend
