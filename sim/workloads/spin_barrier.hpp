// A barrier on which the threads spin (RMA-MT's): nobody sleeps, everybody reads the line that the last one wrote.
#pragma once

#include "core/cache_line.hpp"
#include "core/resume_all.hpp"
#include "core/wait_scope.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

class SpinBarrier final : public Waitable {
public:
  SpinBarrier(Engine& engine, const Host& host, int threads, std::string_view name)
      : threads_(threads), count_line_(engine, host, std::string(name) + "/count"),
        cycle_line_(engine, host, std::string(name) + "/cycle"), label_(std::string(name)) {}

  void wait(SimThread& self) {
    const WaitScope scope(self, label_);
    const TimePoint came = self.now();
    count_line_.atomic(self, Category::barrier);
    self.settle();
    if (++arrived_ == threads_) {
      arrived_ = 0;
      WaitScope::answer_all(label_, self, arrived_last, came);
      cycle_line_.atomic(self, Category::barrier);
      resume_all(spinning_);
      return;
    }
    spinning_.push_back(&self);
    self.wait(*this, Category::barrier);
    cycle_line_.load(self, Category::barrier); // the read that sees the change
  }

  [[nodiscard]] std::string describe() const override { return "barrier '" + label_.name + "'"; }

private:
  int threads_;
  int arrived_ = 0;
  std::vector<SimThread*> spinning_;
  CacheLine count_line_;
  CacheLine cycle_line_;
  TraceLabel label_;
};

} // namespace contend
