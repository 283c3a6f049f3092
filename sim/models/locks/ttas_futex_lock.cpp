#include "models/locks/ttas_futex_lock.hpp"

#include <limits>

namespace contend {

TtasFutexLock::TtasFutexLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name)
    : Lock(engine, name), looks_(parameters.adaptive_spins), pause_(parameters.pause), line_(engine, host, name),
      futex_(engine, host, name), bypasses_(host.futex()) {}

bool TtasFutexLock::change(SimThread& self, Category category, Word from, Word to) {
  if (!line_.compare(self, category, [&] { return word_ == from; })) {
    return false;
  }
  word_ = to;
  return true;
}

void TtasFutexLock::do_lock(SimThread& self, Category category) {
  Bypasses::Wait wait(bypasses_);
  line_.load(self, category);
  Word mine = Word::held;
  for (int left = looks_;;) {
    if (bypasses_.given_to(self)) {
      return;
    }
    if (word_ == Word::free) {
      if (change(self, category, Word::free, mine)) {
        return;
      }
      continue; // the comparison has shown the new word
    }
    wait.missed(self);
    if (left > 0) {
      self.spend_time(pause_, category);
      --left;
    } else if (sleep(self, category)) {
      mine = Word::awaited; // whoever gave the lock back has cleared that others sleep, and woken only one
    }
    line_.load(self, category);
  }
}

bool TtasFutexLock::sleep(SimThread& self, Category category) {
  if (word_ == Word::held && !change(self, category, Word::held, Word::awaited)) {
    return false;
  }
  futex_.wait(self, category, line_, [&] { return word_ == Word::awaited && !bypasses_.has(self); });
  return true;
}

bool TtasFutexLock::do_try_lock(SimThread& self, Category category) {
  line_.load(self, category);
  while (word_ == Word::free) {
    if (change(self, category, Word::free, Word::held)) {
      return true;
    }
  }
  return false;
}

void TtasFutexLock::do_unlock(SimThread& self, Category category) {
  line_.load(self, category);
  Word seen = word_;
  while (!change(self, category, seen, Word::free)) {
    seen = word_;
  }
  released();
  if (bypasses_.hand_over()) {
    word_ = Word::awaited;
    futex_.wake(self, std::numeric_limits<int>::max(), category); // whoever it is
  } else if (seen == Word::awaited) {
    futex_.wake(self, 1, category);
  }
}

void TtasFutexLock::do_grant(SimThread& /*self*/) { word_ = Word::held; }

} // namespace contend
