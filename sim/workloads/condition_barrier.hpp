// A barrier made of a mutex and a condition variable, as standard libraries have it (Rust's std::sync::Barrier): who is woken
// has to take the mutex before it may go on.
#pragma once

#include "core/wait_scope.hpp"
#include "models/locks/condition_variable.hpp"
#include "models/locks/futex_word.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace contend {

class ConditionBarrier final : public Waitable {
public:
  ConditionBarrier(Engine& engine, const Host& host, int threads, std::string_view name)
      : threads_(threads), label_(std::string(name)), mutex_(engine, host, label_.name + "/mutex"),
        all_here_(engine, host, label_.name + "/condition") {}

  /// Returns when as many threads have come as the barrier is for.
  void wait(SimThread& self) {
    const WaitScope scope(self, label_);
    const TimePoint came = self.now();
    mutex_.lock(self, Category::barrier);
    const std::uint64_t round = round_;
    if (++arrived_ < threads_) {
      while (round_ == round) {
        all_here_.wait(self, mutex_, Category::barrier);
      }
    } else {
      arrived_ = 0;
      ++round_;
      WaitScope::answer_all(label_, self, arrived_last, came);
      all_here_.notify_all(self, Category::barrier);
    }
    mutex_.unlock(self, Category::barrier);
  }

  [[nodiscard]] std::string describe() const override { return "barrier '" + label_.name + "'"; }

private:
  int threads_;
  int arrived_ = 0;
  std::uint64_t round_ = 0;
  TraceLabel label_;
  FutexWord mutex_;
  ConditionVariable all_here_;
};

} // namespace contend
