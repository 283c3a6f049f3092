// The system calls behind every blocking lock on Linux.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>

#include <atomic>
#include <unistd.h>

namespace contend::native {

using FutexWord = std::atomic<int>;
static_assert(sizeof(FutexWord) == sizeof(int));

/// Sleeps while the word is `expected`; may return early.
inline void futex_wait(FutexWord& word, int expected) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

inline void futex_wake_one(FutexWord& word) { syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); }

} // namespace contend::native
