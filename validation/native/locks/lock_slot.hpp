// What a thread brings along to a lock.
#pragma once

#include "support/spin.hpp"

#include <atomic>
#include <cstdint>

namespace contend::native {

struct alignas(line_bytes) LockSlot {
  std::atomic<LockSlot*> next{nullptr}; ///< MCS: who waits behind this thread
  std::atomic<bool> waiting{false};     ///< MCS: cleared by the thread before
  std::int64_t failed_tries = 0;        ///< try-lock polling
};

} // namespace contend::native
