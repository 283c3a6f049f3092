// How often a core that has fallen idle looks for a thread that waits elsewhere (Linux's NI_RANDOM).
#pragma once

#include "core/random.hpp"

#include <cmath>
#include <stdexcept>

namespace contend {

/// Looking costs a core time, and is often in vain. Since 6.18.5 Linux looks as often as it pays off: in the share of
/// cases that looks have found a thread in, of the last 512 to 1024 cases in which a core fell idle while others had too much to do
/// (newidle_ratio of a scheduling domain, sched_balance_newidle() and update_newidle_stats() of kernel/sched/fair.c). A look that was one of
/// n cases counts n times, in whole numbers as the kernel rounds them.
class NewlyIdleRatio {
public:
  /// Begins with that share, as if 512 cases had passed with it. 1: a core always looks, as before those versions, whatever it finds. Throws
  /// std::invalid_argument for less than 0 or more than 1.
  explicit NewlyIdleRatio(double share) : always_(share == 1.0), ratio_(in_sides(share)), successes_(ratio_ / 2) {}

  /// Whether the core looks this time; if so, found() is to be told what came of it.
  [[nodiscard]] bool looks(RandomStream& random) {
    if (always_ || static_cast<int>(random.below(sides)) <= weight()) {
      return true;
    }
    count(0);
    return false;
  }
  void found(bool thread) {
    if (!always_) {
      count(thread ? (sides + weight() / 2) / weight() : 0);
    }
  }
  /// The share of cases in which it looks, from 0 to 1.
  [[nodiscard]] double share() const { return always_ || ratio_ > sides ? 1.0 : static_cast<double>(ratio_) / sides; }

private:
  static constexpr int sides = 1024; ///< of the die

  static int in_sides(double share) {
    if (std::isnan(share) || share < 0.0 || share > 1.0) {
      throw std::invalid_argument("newly idle cores look in a share from 0 to 1 of the cases");
    }
    return static_cast<int>(share * sides);
  }
  [[nodiscard]] int weight() const { return 1 + ratio_; }
  void count(int successes) {
    successes_ += successes;
    if (++cases_ >= sides) {
      ratio_ = successes_;
      cases_ /= 2;
      successes_ /= 2;
    }
  }

  bool always_;
  int ratio_; ///< of 1024
  int cases_ = sides / 2;
  int successes_;
};

} // namespace contend
