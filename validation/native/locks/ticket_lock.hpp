// First come, first served: draw a number, wait until it is called.
#pragma once

#include "locks/lock_slot.hpp"

#include <cstdint>

namespace contend::native {

class TicketLock {
public:
  void lock(LockSlot& /*slot*/) {
    const std::uint32_t mine = next_.fetch_add(1, std::memory_order_relaxed);
    while (serving_.load(std::memory_order_acquire) != mine) {
      spin_pause();
    }
  }
  void unlock(LockSlot& /*slot*/) {
    serving_.store(serving_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

private:
  std::atomic<std::uint32_t> next_{0};
  std::atomic<std::uint32_t> serving_{0};
};

} // namespace contend::native
