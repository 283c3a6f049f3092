// glibc's adaptive mutex (PTHREAD_MUTEX_ADAPTIVE_NP): a number of attempts that it learns, then sleep.
#pragma once

#include "models/locks/lock.hpp"
#include "models/locks/pthread_word.hpp"

namespace contend {

class AdaptiveMutex final : public Lock {
public:
  AdaptiveMutex(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name)
      : Lock(engine, name), parameters_(parameters), word_(engine, host, parameters, name) {}

  /// Attempts at fixed distances often fall on the very moment of a poller's, and then the order of the two counts.
  [[nodiscard]] bool can_be_visited() const override { return false; }

private:
  void do_lock(SimThread& self, Category category) override;
  bool do_try_lock(SimThread& self, Category category) override { return word_.try_lock(self, category); }
  void do_unlock(SimThread& self, Category category) override {
    word_.unlock(self, category, [this] { released(); });
  }
  void do_grant(SimThread& /*self*/) override { word_.grant(); }

  LockParameters parameters_;
  PthreadWord word_;
  int spins_ = 0; ///< running mean of the attempts that it took
};

} // namespace contend
