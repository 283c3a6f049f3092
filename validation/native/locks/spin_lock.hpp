// Test-and-set: every look at the lock is an atomic exchange.
#pragma once

#include "locks/lock_slot.hpp"

namespace contend::native {

class SpinLock {
public:
  void lock(LockSlot& /*slot*/) {
    while (held_.exchange(true, std::memory_order_acquire)) {
      spin_pause();
    }
  }
  void unlock(LockSlot& /*slot*/) { held_.store(false, std::memory_order_release); }

private:
  std::atomic<bool> held_{false};
};

} // namespace contend::native
