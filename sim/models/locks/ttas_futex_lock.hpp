// A spin lock that sleeps in the end: looks at its own copy of the word as test-and-test-and-set does, and after a fixed number
// of looks waits in the kernel, as folly's MicroLock does. Two bits and no count of those who wait:
//
//   lock:    while not (free and cmpxchg(free, held)): after adaptive_spins looks: cmpxchg(held, awaited); sleep while awaited
//   unlock:  cmpxchg(word, free) until it succeeds; if it was awaited: wake one, who takes the lock as awaited: others may sleep
#pragma once

#include "core/futex.hpp"
#include "models/locks/bypasses.hpp"
#include "models/locks/lock.hpp"

namespace contend {

class TtasFutexLock final : public Lock {
public:
  TtasFutexLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name);

  /// Whether an attempt of a poller falls into another thread's loop counts.
  [[nodiscard]] bool can_be_visited() const override { return false; }

private:
  enum class Word { free, held, awaited };

  void do_lock(SimThread& self, Category category) override;
  bool do_try_lock(SimThread& self, Category category) override;
  void do_unlock(SimThread& self, Category category) override;
  void do_grant(SimThread& self) override;

  /// One attempt to change the word from what it was when it was looked at last.
  bool change(SimThread& self, Category category, Word from, Word to);
  /// Returns whether it has been asleep, or was about to be; false: the word has changed before it could say that it sleeps.
  bool sleep(SimThread& self, Category category);

  int looks_;
  Duration pause_;
  Word word_ = Word::free;
  CacheLine line_;
  Futex futex_;
  Bypasses bypasses_;
};

} // namespace contend
