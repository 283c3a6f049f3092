#include "models/locks/futex_word.hpp"

namespace contend {

void FutexWord::lock_slowly(SimThread& self, Category category) {
  // lll_lock_wait: a word that says already that somebody sleeps needs no change before the first sleep. After one, this
  // thread cannot know whether others sleep, so it always says that somebody does.
  Bypasses::Wait wait(bypasses_);
  for (bool said = state_ == State::locked_with_sleepers;; said = false) {
    if (!said) {
      line_.atomic(self, category); // xchg(word, 2)
      if (bypasses_.given_to(self) || std::exchange(state_, State::locked_with_sleepers) == State::free) {
        return;
      }
    }
    wait.missed(self);
    futex_.wait(self, category, line_, [&] { return state_ == State::locked_with_sleepers && !bypasses_.has(self); });
  }
}

bool FutexWord::try_lock(SimThread& self, Category category) {
  if (!line_.compare(self, category, [this] { return state_ == State::free; })) { // cmpxchg(word, 0, 1)
    return false;
  }
  state_ = State::locked;
  return true;
}

} // namespace contend
