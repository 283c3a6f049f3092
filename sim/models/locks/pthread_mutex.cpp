#include "models/locks/pthread_mutex.hpp"

#include <utility>

namespace contend {

PthreadMutex::PthreadMutex(Engine& engine, const Host& host, const LockParameters& /*parameters*/,
                           std::string_view name)
    : Lock(engine, name), line_(engine, host, name), futex_(engine, host, name) {}

void PthreadMutex::do_lock(SimThread& self, Category category) {
  if (do_try_lock(self, category)) {
    return;
  }
  // lll_lock_wait: a word that says already that somebody sleeps needs no change before the first sleep. After one, this
  // thread cannot know whether others sleep, so it always says that somebody does.
  for (bool said = state_ == State::locked_with_sleepers;; said = false) {
    if (!said) {
      line_.atomic(self, category); // xchg(word, 2)
      if (std::exchange(state_, State::locked_with_sleepers) == State::free) {
        return;
      }
    }
    futex_.wait(self, category, [this] { return state_ == State::locked_with_sleepers; });
  }
}

bool PthreadMutex::do_try_lock(SimThread& self, Category category) {
  line_.atomic(self, category); // cmpxchg(word, 0, 1)
  if (state_ != State::free) {
    return false;
  }
  state_ = State::locked;
  return true;
}

void PthreadMutex::do_unlock(SimThread& self, Category category) {
  line_.atomic(self, category); // xchg(word, 0)
  released();
  if (std::exchange(state_, State::free) == State::locked_with_sleepers) {
    futex_.wake(self, 1, category);
  }
}

void PthreadMutex::do_grant(SimThread& /*self*/) { state_ = State::locked; }

} // namespace contend
