// A readers' and writers' lock that is only taken for writing (folly, SharedMutex.h, of 2019): spins, then yields, then sleeps.
// Two bits tell whether one or several threads sleep.
//
//   lock:    while not (free and cmpxchg(word, held)): 1000 looks with PAUSE, then 1000 rounds of two sched_yield and a
//            system call, until the core was lost twice in a round; cmpxchg(word, one more sleeps); sleep
//   unlock:  cmpxchg(word, not held) until it succeeds; several sleep: wake one, the bits stay; one sleeps, or nobody did: clear
//            the bits, wake all
#pragma once

#include "core/futex.hpp"
#include "models/locks/bypasses.hpp"
#include "models/locks/lock.hpp"
#include "models/locks/spinners.hpp"

namespace contend {

class SharedMutex final : public Lock {
public:
  SharedMutex(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name);

  /// Whether an attempt of a poller falls into another thread's loop counts.
  [[nodiscard]] bool can_be_visited() const override { return false; }

private:
  struct Word {
    bool held = false;
    bool one_sleeps = false;
    bool several_sleep = false;
    bool operator==(const Word&) const = default;
    [[nodiscard]] bool sleepers() const { return one_sleeps || several_sleep; }
  };

  void do_lock(SimThread& self, Category category) override;
  bool do_try_lock(SimThread& self, Category category) override;
  void do_unlock(SimThread& self, Category category) override;
  void do_grant(SimThread& self) override;

  /// Changes the word from what it was when it was looked at last.
  bool change(SimThread& self, Category category, const Word& seen, const Word& to);
  /// One look; whether it has shown the lock free, or given to `self`.
  bool look(SimThread& self, Category category, Bypasses::Wait& wait);
  // Each returns whether a look has shown that.
  bool spin(SimThread& self, Category category, Bypasses::Wait& wait);
  bool yield(SimThread& self, Category category, Bypasses::Wait& wait);
  void sleep(SimThread& self, Category category, Bypasses::Wait& wait);

  Duration pause_;
  Duration yield_call_;
  Word word_;
  CacheLine line_;
  Spinners spinners_;
  Bypasses bypasses_;
  bool wakes_in_step_;
  Futex futex_;
};

} // namespace contend
