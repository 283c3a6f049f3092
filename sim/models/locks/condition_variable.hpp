// pthread_cond_wait and its wake-ups: one line for the state, one futex to sleep on (glibc nptl, without its two groups).
#pragma once

#include "core/cache_line.hpp"
#include "core/futex.hpp"

#include <cstdint>
#include <limits>
#include <string_view>

namespace contend {

class ConditionVariable {
public:
  ConditionVariable(Engine& engine, const Host& host, std::string_view name)
      : line_(engine, host, name), futex_(engine, host, name) {}

  /// Gives `mutex` back, sleeps until a wake-up that comes later than the call, and takes `mutex` again. May return early,
  /// like the original: ask in a loop. A mutex is a FutexWord, or what has its lock() and unlock().
  template <typename Mutex>
  void wait(SimThread& self, Mutex& mutex, Category category) {
    line_.atomic(self, category);
    const std::uint64_t round = rounds_;
    ++waiting_;
    mutex.unlock(self, category);
    futex_.wait(self, category, line_, [&] { return rounds_ == round; });
    mutex.lock(self, category);
    --waiting_;
  }
  void notify_one(SimThread& self, Category category) { notify(self, 1, category); }
  void notify_all(SimThread& self, Category category) { notify(self, std::numeric_limits<int>::max(), category); }

private:
  void notify(SimThread& self, int count, Category category) {
    line_.load(self, category);
    if (waiting_ == 0) {
      return;
    }
    line_.atomic(self, category);
    ++rounds_;
    futex_.wake(self, count, category);
  }

  std::uint64_t rounds_ = 0;
  int waiting_ = 0;
  CacheLine line_;
  Futex futex_;
};

} // namespace contend
