// Threads that look at a cache line again and again until they see what they wait for.
#pragma once

#include "core/cache_line.hpp"
#include "models/locks/parameters.hpp"

#include <utility>
#include <vector>

namespace contend {

/// The spinning threads of one line. Nobody who spins on its own copy is simulated turn by turn: it sleeps until the line
/// is taken from it.
///
/// Where the line has no home order (CacheParameters::home_order), spinners come back when notify() is called and a whole
/// turn has passed. With it, or if `in_turn` is said, every loss of the copy brings them back, in the middle of the
/// transfer that took it, at the end of the turn that they are in: each of them reads the line again, whether it has
/// anything to see or not.
class Spinners {
public:
  /// `turn`: one turn of the loop besides the look itself.
  Spinners(CacheLine& line, Duration turn, bool in_turn = false)
      : line_(line), turn_(turn), watches_(in_turn || line.home_order()) {}

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

  /// Between two looks.
  void rest(SimThread& self, Category category, const Waitable& reason) {
    if (!watches_) {
      threads_.push_back(&self);
      self.wait(reason, category);
      self.spend(turn_, category);
    } else if (line_.watch(self, turn_)) {
      self.wait(reason, category);
    } else {
      self.spend(turn_, category);
    }
  }

  /// What they wait for may have come: whoever writes the line says so afterwards.
  void notify() {
    for (SimThread* thread : std::exchange(threads_, {})) {
      thread->resume();
    }
  }

private:
  CacheLine& line_;
  Duration turn_;
  bool watches_;
  std::vector<SimThread*> threads_;
};

/// A thread that has spun for long sleeps between looks (folly's detail::Sleeper). One for each call of lock().
class Nap {
public:
  Nap(const SimThread& self, const LockParameters& parameters)
      : limit_(self.now() + parameters.pause * parameters.nap_after),
        nap_(parameters.nap_after > 0 ? parameters.nap : Duration{}) {}

  void between_looks(SimThread& self, Category category) const {
    if (nap_ > Duration{} && self.now() >= limit_) [[unlikely]] {
      self.spend(nap_, category);
    }
  }

private:
  TimePoint limit_;
  Duration nap_;
};

} // namespace contend
