// Threads that look at a cache line again and again until they see what they wait for.
#pragma once

#include "core/cache_line.hpp"
#include "core/resume_all.hpp"
#include "core/sleep.hpp"
#include "models/locks/parameters.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace contend {

/// The spinning threads of one line. Nobody who spins on its own copy is simulated turn by turn: it sleeps until the line
/// is taken from it.
///
/// Where the line has no home order (CacheParameters::home_order), spinners come back when notify() is called and a whole
/// turn has passed. With it, or if the loop is one in which the phase matters, every loss of the copy brings them back, in
/// the middle of the transfer that took it, at the end of the turn that they are in: each of them reads the line again,
/// whether it has anything to see or not.
class Spinners {
public:
  enum class Loop {
    pauses,  ///< waits for a moment between two looks
    in_step, ///< the same, and the phase of its turns matters, or their number
    yields,  ///< calls sched_yield() between two looks, of which the phase matters as well
  };

  /// `turn`: one turn of the loop besides the look itself. `look`: what one takes that finds the line in place, if that is a part of
  /// the turn that counts: an atomic operation takes longer than PAUSE.
  Spinners(CacheLine& line, Duration turn, Loop loop = Loop::pauses, Duration look = {})
      : line_(line), turn_(turn), look_(look), watches_(loop != Loop::pauses || line.home_order()),
        yields_(loop == Loop::yields) {}

  /// Reads the line until `done()`; the first look comes at once. `reason` is what a deadlock report shows.
  template <typename Done>
  void wait(SimThread& self, Category category, const Waitable& reason, Done done) {
    for (;;) {
      line_.load(self, category);
      if (done()) {
        return;
      }
      rest(self, category, reason);
    }
  }

  /// Between two looks. Where the line is watched, ends at `until` at the latest.
  void rest(SimThread& self, Category category, const Waitable& reason, TimePoint until = TimePoint::never()) {
    const Duration turn = yields_ ? self.on_its_core(turn_) : turn_; // a call of the kernel is work, PAUSE is not
    if (yields_ && self.shares_core()) {
      self.spend_time(turn, category);
      self.yield();
    } else if (!watches_) {
      threads_.push_back(&self);
      self.wait(reason, category);
      self.spend_time(turn, category);
    } else if (line_.watch(self, turn + self.on_its_core(look_), until)) {
      self.wait(reason, category);
    } else {
      self.spend_time(turn, category);
    }
  }

  /// What they wait for may have come: whoever writes the line says so afterwards.
  void notify() { resume_all(threads_); }

private:
  CacheLine& line_;
  Duration turn_;
  Duration look_;
  bool watches_;
  bool yields_;
  std::vector<SimThread*> threads_;
};

/// Of a loop in which each look asks what time it is: RDTSC, 24 to 30 cycles from Haswell on (A. Fog, instruction tables).
inline constexpr Duration time_stamp = Duration::picoseconds(10'000);

/// One turn of a loop around sched_yield(); where a profile does not say what that costs, as long as one with PAUSE.
[[nodiscard]] inline Duration yield_turn(const Host& host, const LockParameters& parameters) {
  return host.futex().yield_call > Duration{} ? host.futex().yield_call : parameters.pause;
}

/// A thread that has looked often sleeps between looks (folly's detail::Sleeper). One for each call of lock().
class Nap {
public:
  /// `turn`: one turn of the loop, the look itself included.
  Nap(const LockParameters& parameters, Duration turn)
      : turn_(std::max(turn, Duration::picoseconds(1))), left_(are_taken(parameters) ? parameters.nap_after : no_naps),
        nap_(parameters.nap) {}

  [[nodiscard]] static bool are_taken(const LockParameters& parameters) {
    return parameters.nap_after > 0 && parameters.nap > Duration{};
  }

  /// What the thread does between two looks: it rests as one of `spinners`, and sleeps when it has looked so often. What it
  /// waits for a line that others have is part of one look.
  void rest(Spinners& spinners, SimThread& self, Category category, const Waitable& reason) {
    if (left_ == no_naps) [[likely]] {
      spinners.rest(self, category, reason);
      return;
    }
    if (left_ > 0) {
      const TimePoint rested = self.now();
      const Duration away = self.without_core();
      spinners.rest(self, category, reason, begins(rested));
      const Duration looked = self.now() - rested - (self.without_core() - away);
      left_ -= std::min(left_, std::max<std::int64_t>(1, looked / turn_));
    }
    if (left_ == 0) {
      sleep(self, nap_, category, reason);
    }
  }
  /// When a thread that sees nothing new from `now` on goes to sleep.
  [[nodiscard]] TimePoint begins(TimePoint now) const {
    return left_ == no_naps ? TimePoint::never() : now + turn_ * left_;
  }

private:
  static constexpr std::int64_t no_naps = -1;

  Duration turn_;
  std::int64_t left_; ///< looks before the first nap
  Duration nap_;
};

} // namespace contend
