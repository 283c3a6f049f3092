// pthread_barrier_wait: arrivals count on one cache line, sleepers are woken by the last one.
#pragma once

#include "core/cache_line.hpp"
#include "core/futex.hpp"
#include "core/wait_scope.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace contend {

class ThreadBarrier {
public:
  ThreadBarrier(Engine& engine, const Host& host, int threads, std::string_view name)
      : threads_(threads), label_(std::string(name)), line_(engine, host, name), futex_(engine, host, name) {}

  void wait(SimThread& self) {
    const WaitScope scope(self, label_);
    const TimePoint came = self.now();
    const std::uint64_t round = round_;
    line_.atomic(self, Category::barrier);
    if (++arrived_ == threads_) {
      arrived_ = 0;
      ++round_;
      WaitScope::answer_all(label_, self, arrived_last, came);
      if (futex_.sleepers() > 0) {
        futex_.wake(self, threads_, Category::barrier);
      }
      return;
    }
    while (round_ == round) {
      futex_.wait(self, Category::barrier, line_, [&] { return round_ == round; });
    }
  }

private:
  int threads_;
  int arrived_ = 0;
  std::uint64_t round_ = 0;
  TraceLabel label_;
  CacheLine line_;
  Futex futex_;
};

} // namespace contend
