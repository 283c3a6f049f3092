// Test-and-set spin lock: every attempt writes to the line, which all waiting threads pull to and fro (Anderson 1990).
#pragma once

#include "models/locks/lock.hpp"

#include <utility>

namespace contend::example {

class TasLock final : public Lock {
public:
  TasLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name)
      : Lock(engine, name), pause_(parameters.pause), line_(engine, host, name) {}

private:
  void do_lock(SimThread& self, Category category) override {
    while (!do_try_lock(self, category)) {
      self.spend_time(pause_, category);
    }
  }
  bool do_try_lock(SimThread& self, Category category) override {
    line_.atomic(self, category); // xchg(word, 1); its effect falls at the end of the call
    return !std::exchange(held_, true);
  }
  void do_unlock(SimThread& self, Category category) override {
    line_.release(self, category); // word = 0, after all that the holder wrote
    held_ = false;
  }
  void do_grant(SimThread& /*self*/) override { held_ = true; }

  Duration pause_;
  bool held_ = false;
  CacheLine line_;
};

} // namespace contend::example
