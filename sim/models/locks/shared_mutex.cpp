#include "models/locks/shared_mutex.hpp"

#include <algorithm>
#include <limits>

namespace contend {

SharedMutex::SharedMutex(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name)
    : Lock(engine, name), pause_(std::max(parameters.pause, Duration::picoseconds(1))),
      yield_call_(yield_turn(host, parameters)), line_(engine, host, name),
      spinners_(line_, pause_, Spinners::Loop::in_step), wakes_in_step_(Bypasses::wakes_in_step(host.futex())),
      futex_(engine, host, name) {}

bool SharedMutex::change(SimThread& self, Category category, const Word& seen, const Word& to) {
  if (!line_.compare(self, category, [&] { return word_ == seen; })) {
    return false;
  }
  word_ = to;
  return true;
}

void SharedMutex::do_lock(SimThread& self, Category category) {
  Bypasses::Wait wait(bypasses_);
  line_.load(self, category);
  for (;;) {
    if (word_.held && !spin(self, category, wait) && !yield(self, category, wait) && !bypasses_.chosen(self)) {
      sleep(self, category, wait);
    }
    if (bypasses_.given_to(self)) {
      return;
    }
    const Word seen = word_;
    Word mine = seen;
    mine.held = true;
    if (!seen.held && change(self, category, seen, mine)) {
      return;
    }
  }
}

bool SharedMutex::look(SimThread& self, Category category, Bypasses::Wait& wait) {
  line_.load(self, category);
  if (!word_.held || bypasses_.has(self)) {
    return true;
  }
  wait.missed(self);
  return false;
}

bool SharedMutex::spin(SimThread& self, Category category, Bypasses::Wait& wait) {
  for (std::int64_t looks = 1000; looks > 0;) {
    if (look(self, category, wait)) {
      return true;
    }
    const TimePoint rested = self.now();
    const Duration away = self.without_core();
    spinners_.rest(self, category, *this, rested + pause_ * looks);
    const Duration looked = self.now() - rested - (self.without_core() - away);
    looks -= std::max<std::int64_t>(1, looked / pause_);
  }
  return false;
}

/// The third call of a round asks how often the core was taken away: by sched_yield as well, if somebody waits for it.
bool SharedMutex::yield(SimThread& self, Category category, Bypasses::Wait& wait) {
  constexpr int rounds = 1000;
  constexpr int calls = 3;
  for (int round = 0; round < rounds; ++round) {
    int lost = 0;
    for (int call = 0; call < calls; ++call) {
      const Duration waited = self.charged(Category::run_queue);
      self.spend(yield_call_, category);
      if (call + 1 < calls) {
        self.yield();
      }
      if (look(self, category, wait)) {
        return true;
      }
      lost += self.charged(Category::run_queue) > waited ? 1 : 0;
    }
    if (round > 0 && lost >= 2) {
      break; // somebody else can use the core better
    }
  }
  return false;
}

void SharedMutex::sleep(SimThread& self, Category category, Bypasses::Wait& wait) {
  for (;;) {
    line_.load(self, category);
    const Word seen = word_;
    if (!seen.held) {
      return;
    }
    if (wakes_in_step_) {
      wait.missed(self);
      if (bypasses_.chosen(self)) {
        return;
      }
    }
    Word mine = seen;
    (seen.one_sleeps ? mine.several_sleep : mine.one_sleeps) = true;
    if (mine == seen || change(self, category, seen, mine)) {
      futex_.wait(self, category, line_, [&] { return word_ == mine; });
    }
  }
}

bool SharedMutex::do_try_lock(SimThread& self, Category category) {
  line_.load(self, category);
  for (;;) {
    const Word seen = word_;
    if (seen.held) {
      return false;
    }
    Word mine = seen;
    mine.held = true;
    if (change(self, category, seen, mine)) {
      return true;
    }
  }
}

void SharedMutex::do_unlock(SimThread& self, Category category) {
  line_.load(self, category);
  for (;;) { // the new value is wanted, so that the compiler makes a loop
    const Word seen = word_;
    Word left = seen;
    left.held = false;
    if (change(self, category, seen, left)) {
      break;
    }
  }
  released();
  const Word left = word_;
  word_.held = bypasses_.hand_over();
  if (left.one_sleeps && left.several_sleep && futex_.wake(self, 1, category) > 0) {
    return;
  }
  if (left.sleepers()) {
    line_.atomic(self, category); // fetch_and
    const bool any = word_.sleepers();
    word_.one_sleeps = word_.several_sleep = false;
    if (any) {
      futex_.wake(self, std::numeric_limits<int>::max(), category);
    }
  }
}

void SharedMutex::do_grant(SimThread& /*self*/) { word_.held = true; }

} // namespace contend
