// Where the kernel keeps the sleepers of a futex word: a queue behind a spin lock of the kernel's own.
#pragma once

#include "core/engine.hpp"
#include "core/host.hpp"
#include "core/random.hpp"
#include "core/ring_queue.hpp"

namespace contend {

/// struct futex_hash_bucket (Linux, kernel/futex/futex.h), of one word: how many sleep or are about to, and a lock that every call takes
/// which may sleep or wake somebody. The lock is served in order of arrival (queued spin lock), and whoever has it or waits for
/// it keeps its core. What that costs is measured as a whole, see FutexParameters.
class FutexBucket {
public:
  FutexBucket(const Host& host, RandomStream random) : host_(host), random_(random) {}

  /// Says that a thread may sleep, so that whoever wakes need not take the lock to find nobody.
  void announce() { ++announced_; }
  /// So many do not sleep any more, or not after all.
  void retract(int count) { announced_ -= count; }

  /// Whether somebody sleeps or may be about to; a look at the bucket's line.
  [[nodiscard]] bool look(SimThread& self, Category category) {
    if (moved(self)) {
      self.spend_time(host_.transfer(last_core_, self.core()), category);
    }
    self.settle();
    return announced_ > 0;
  }

  /// Takes the lock and gives it back. What a call does under it, it does at the end of this.
  void pass(SimThread& self, Category category) {
    self.settle();
    const TimePoint now = self.now();
    while (!leaving_.empty() && leaving_.front() <= now) {
      leaving_.pop_front();
    }
    const Duration held = time_of(self);
    const TimePoint leaves = (leaving_.empty() ? now : last_leaves_) + held;
    leaving_.push_back(leaves);
    last_leaves_ = leaves;
    last_core_ = self.core();
    self.spend_time(leaves - now, category);
    self.settle();
  }

private:
  /// How long the call holds the lock, or keeps the next one waiting for it. Only the first one behind the holder watches the lock
  /// itself; from the second on they queue, and a hand-over takes a turn, now less and now more: strict turns would hold threads
  /// that have gone through the queue in step, and let each of them see the word at the same moment of another one's section.
  [[nodiscard]] Duration time_of(const SimThread& self) {
    const FutexParameters& prices = host_.futex();
    const bool is_alone = leaving_.empty() && !moved(self);
    const bool queues = leaving_.size() > 1 && prices.bucket_turn > Duration{};
    const Duration mean = is_alone ? Duration{} : queues ? prices.bucket_turn : prices.bucket_move;
    return mean.scaled(0.5 + random_.uniform());
  }
  [[nodiscard]] bool moved(const SimThread& self) const { return last_core_ >= 0 && last_core_ != self.core(); }

  const Host& host_;
  RandomStream random_;
  int announced_ = 0;
  int last_core_ = -1;           ///< that used the bucket
  TimePoint last_leaves_;        ///< of the last one of
  RingQueue<TimePoint> leaving_; ///< when who has the lock or waits for it gives it back, in order
};

} // namespace contend
