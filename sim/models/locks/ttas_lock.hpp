// Test-and-test-and-set spin lock with optional randomised exponential back-off (Anderson 1990).
#pragma once

#include "models/locks/bypasses.hpp"
#include "models/locks/lock.hpp"
#include "models/locks/spinners.hpp"

namespace contend {

class TtasLock : public Lock {
public:
  TtasLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name)
      : TtasLock(engine, host, parameters, name, parameters.pause, Spinners::Loop::pauses) {}

  /// Nobody may hold it while a store buffer does.
  [[nodiscard]] bool can_be_visited() const override { return !line_.buffers_stores(); }
  /// Between test and set somebody else may take it.
  [[nodiscard]] bool can_be_visited_by_lock() const override { return first_ == First::set && can_be_visited(); }

protected:
  enum class First { test, set };
  /// `turn`: what a spinning thread does between two looks takes this long.
  TtasLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name, Duration turn,
           Spinners::Loop loop, First first = First::test);

private:
  void do_lock(SimThread& self, Category category) override;
  bool do_try_lock(SimThread& self, Category category) override;
  void do_unlock(SimThread& self, Category category) override;
  void do_grant(SimThread& self) override;

  LockParameters parameters_;
  Duration turn_; ///< of the loop, the look itself included
  bool held_ = false;
  CacheLine line_;
  Spinners spinners_; ///< spin on their own copy of the line until it is invalidated
  Bypasses bypasses_;
  RandomStream backoff_;
  First first_;
};

/// Sets before it tests: the first attempt comes without a look, and takes the line from the holder even if it fails.
class EagerTtasLock final : public TtasLock {
public:
  EagerTtasLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name)
      : TtasLock(engine, host, parameters, name, parameters.pause, Spinners::Loop::pauses, First::set) {}
};

/// Gives up its time slice after every look: sched_yield in place of PAUSE.
class TtasYieldLock final : public TtasLock {
public:
  TtasYieldLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name)
      : TtasLock(engine, host, parameters, name, yield_turn(host, parameters), Spinners::Loop::yields) {}
};

} // namespace contend
