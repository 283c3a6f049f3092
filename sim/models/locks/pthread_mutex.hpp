// The default pthread mutex of glibc: a three-state futex lock without spinning.
#pragma once

#include "models/locks/lock.hpp"
#include "models/locks/pthread_word.hpp"

namespace contend {

class PthreadMutex final : public Lock {
public:
  PthreadMutex(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name)
      : Lock(engine, name), word_(engine, host, parameters, name) {}

private:
  void do_lock(SimThread& self, Category category) override { word_.lock(self, category); }
  bool do_try_lock(SimThread& self, Category category) override { return word_.try_lock(self, category); }
  void do_unlock(SimThread& self, Category category) override {
    word_.unlock(self, category, [this] { released(); });
  }
  void do_grant(SimThread& /*self*/) override { word_.grant(); }

  PthreadWord word_;
};

} // namespace contend
