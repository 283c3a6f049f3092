// Test-and-set spin lock: every attempt takes the line (Anderson 1990).
#pragma once

#include "models/locks/lock.hpp"

namespace contend {

class TasLock : public Lock {
public:
  TasLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name);

  /// Nobody may hold it while a store buffer does.
  [[nodiscard]] bool can_be_visited() const override { return !line_.buffers_stores(); }

protected:
  void do_lock(SimThread& self, Category category) override;
  bool do_try_lock(SimThread& self, Category category) override;
  void do_unlock(SimThread& self, Category category) override;
  void do_grant(SimThread& self) override;

  LockParameters parameters_;
  Duration look_; ///< an attempt that fails while the line is there
  bool held_ = false;
  CacheLine line_;
};

/// A bit of a word that has others: an atomic operation gives it back as well (folly's PicoSpinLock: bts and btr).
class TasBitLock final : public TasLock {
public:
  using TasLock::TasLock;

private:
  void do_unlock(SimThread& self, Category category) override;
};

} // namespace contend
