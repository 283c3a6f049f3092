// Test and test-and-set: waits reading, exchanges only when the lock looks free.
#pragma once

#include "locks/lock_slot.hpp"

namespace contend::native {

class TtasLock {
public:
  void lock(LockSlot& /*slot*/) {
    while (held_.exchange(true, std::memory_order_acquire)) {
      while (held_.load(std::memory_order_relaxed)) {
        spin_pause();
      }
    }
  }
  void unlock(LockSlot& /*slot*/) { held_.store(false, std::memory_order_release); }

private:
  std::atomic<bool> held_{false};
};

} // namespace contend::native
