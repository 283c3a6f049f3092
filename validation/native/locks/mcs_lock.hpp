// Mellor-Crummey and Scott: a queue in which each thread waits on a line of its own.
#pragma once

#include "locks/lock_slot.hpp"

namespace contend::native {

class McsLock {
public:
  void lock(LockSlot& slot) {
    slot.next.store(nullptr, std::memory_order_relaxed);
    slot.waiting.store(true, std::memory_order_relaxed);
    LockSlot* before = tail_.exchange(&slot, std::memory_order_acq_rel);
    if (before == nullptr) {
      return;
    }
    before->next.store(&slot, std::memory_order_release);
    while (slot.waiting.load(std::memory_order_acquire)) {
      spin_pause();
    }
  }

  void unlock(LockSlot& slot) {
    LockSlot* after = slot.next.load(std::memory_order_acquire);
    if (after == nullptr) {
      LockSlot* expected = &slot;
      if (tail_.compare_exchange_strong(expected, nullptr, std::memory_order_release, std::memory_order_relaxed)) {
        return;
      }
      // somebody has queued behind but not yet said so
      while ((after = slot.next.load(std::memory_order_acquire)) == nullptr) {
        spin_pause();
      }
    }
    after->waiting.store(false, std::memory_order_release);
  }

private:
  std::atomic<LockSlot*> tail_{nullptr};
};

} // namespace contend::native
