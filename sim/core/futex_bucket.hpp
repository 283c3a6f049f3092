// Where the kernel keeps the sleepers of a futex word: a queue behind a spin lock of the kernel's own.
#pragma once

#include "core/engine.hpp"
#include "core/host.hpp"
#include "core/random.hpp"
#include "core/ring_queue.hpp"

#include <string>
#include <string_view>

namespace contend {

/// struct futex_hash_bucket (Linux, kernel/futex/futex.h), of one word: how many sleep or are about to, and a lock that every call takes
/// which may sleep or wake somebody. The lock is served in order of arrival (queued spin lock), and whoever has it or waits for
/// it keeps its core. What taking it costs is measured as a whole, see FutexParameters.
class FutexBucket final : public Waitable {
public:
  FutexBucket(const Host& host, RandomStream random, std::string_view name)
      : host_(host), random_(random), name_(name) {}

  /// Says that a thread may sleep, so that whoever wakes need not take the lock to find nobody.
  void announce() { ++announced_; }
  /// So many do not sleep any more, or not after all.
  void retract(int count) { announced_ -= count; }

  /// Whether somebody sleeps or may be about to; a look at the bucket's line.
  [[nodiscard]] bool look(SimThread& self, Category category) {
    if (moved(self.core())) {
      self.spend_time(host_.transfer(last_core_, self.core()), category);
    }
    self.settle();
    return announced_ > 0;
  }

  /// Takes the lock; from here on until give_back() nobody can take the core away.
  void take(SimThread& self, Category category) {
    self.settle();
    self.disable_preemption();
    if (taken_) {
      waiting_.push_back({&self, waiting_.empty()});
      self.wait(*this, category, Waiting::stalled);
      return;
    }
    taken_ = true;
    const bool comes_from_elsewhere = moved(self.core());
    last_core_ = self.core();
    if (comes_from_elsewhere) {
      self.spend_time(varied(host_.futex().bucket_move), category);
      self.settle();
    }
  }
  void give_back(SimThread& self) {
    taken_ = !waiting_.empty();
    if (taken_) {
      const Waiter next = waiting_.front();
      waiting_.pop_front();
      last_core_ = next.thread->core();
      next.thread->resume_at(self.engine().now() + hand_over(next));
    }
    self.enable_preemption();
  }

  [[nodiscard]] std::string describe() const override { return "lock of the bucket of futex '" + name_ + "'"; }

private:
  struct Waiter {
    SimThread* thread;
    bool was_first; ///< behind the holder: it watches the lock itself; the others queue
  };

  /// From one holder to the next one, with what a call does under the lock that touches nothing of other threads.
  [[nodiscard]] Duration hand_over(const Waiter& next) {
    const FutexParameters& prices = host_.futex();
    const bool queued = !next.was_first && prices.bucket_turn > Duration{};
    return varied(queued ? prices.bucket_turn : prices.bucket_move);
  }
  /// Now more and now less: strict turns would hold threads that have gone through the queue in step, and let each of them see
  /// the word at the same moment of another one's section.
  [[nodiscard]] Duration varied(Duration mean) { return mean.scaled(0.5 + random_.uniform()); }
  [[nodiscard]] bool moved(int core) const { return last_core_ >= 0 && last_core_ != core; }

  const Host& host_;
  RandomStream random_;
  std::string name_;
  int announced_ = 0;
  bool taken_ = false;
  int last_core_ = -1; ///< that used the bucket
  RingQueue<Waiter> waiting_;
};

} // namespace contend
