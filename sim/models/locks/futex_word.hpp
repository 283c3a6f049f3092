// The word of a three-state futex lock, as glibc's lowlevellock uses it (Drepper, "Futexes are tricky", mutex 2).
#pragma once

#include "core/cache_line.hpp"
#include "core/futex.hpp"
#include "models/locks/bypasses.hpp"

#include <limits>
#include <string_view>
#include <utility>

namespace contend {

/// The algorithm alone: nobody checks who calls it.
class FutexWord {
public:
  FutexWord(Engine& engine, const Host& host, std::string_view name)
      : line_(engine, host, name), futex_(engine, host, name), bypasses_(host.futex()) {}

  void lock(SimThread& self, Category category) {
    if (!try_lock(self, category)) {
      lock_slowly(self, category);
    }
  }
  [[nodiscard]] bool try_lock(SimThread& self, Category category);
  /// Reads the word's line. Returns whether nobody has the lock.
  bool look(SimThread& self, Category category) {
    line_.load(self, category);
    return state_ == State::free;
  }
  /// What lock() does when the first attempt has failed.
  void lock_slowly(SimThread& self, Category category);
  /// Calls `released()` at the moment from which another thread can have the lock.
  template <typename Released>
  void unlock(SimThread& self, Category category, Released released) {
    line_.release_by_atomic(self, category); // xchg(word, 0)
    released();
    const bool given = bypasses_.hand_over();
    const State before = std::exchange(state_, given ? State::locked_with_sleepers : State::free);
    if (given) {
      futex_.wake(self, std::numeric_limits<int>::max(), category); // whoever it is
    } else if (before == State::locked_with_sleepers) {
      futex_.wake(self, 1, category);
    }
  }
  void unlock(SimThread& self, Category category) {
    unlock(self, category, [] {});
  }
  /// Taken without any time passing.
  void grant() { state_ = State::locked; }

private:
  enum class State { free, locked, locked_with_sleepers };

  State state_ = State::free;
  CacheLine line_;
  Futex futex_;
  Bypasses bypasses_;
};

} // namespace contend
