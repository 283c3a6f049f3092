// Sleeping in the kernel until another thread wakes us (Linux futex).
#pragma once

#include "core/cache_line.hpp"
#include "core/engine.hpp"
#include "core/futex_bucket.hpp"
#include "core/host.hpp"
#include "core/ring_queue.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace contend {

/// Wait queue of one futex word. The caller owns the word; sleepers are woken in order of arrival.
class Futex final : public Waitable {
public:
  Futex(Engine& engine, const Host& host, std::string_view name)
      : engine_(engine), host_(host), bucket_(host, engine.stream(std::string(name) + "/bucket"), name),
        jitter_(engine.stream(std::string(name) + "/kernel")), name_(name) {}

  /// Enters the kernel and sleeps if `still_wanted()` is true when it compares. FUTEX_WAIT compares the word under its bucket's
  /// lock (Linux, get_futex_value_locked()): the sleeper fetches its line, `word`, and whoever writes it next has to fetch it again.
  /// Returns false when it did not sleep.
  template <typename Predicate>
  bool wait(SimThread& self, Category category, CacheLine& word, Predicate still_wanted) {
    enter(self, category);
    word.load(self, category);
    self.settle(); // nobody may look or wake between the comparison and the sleep
    return sleep_if(self, category, still_wanted);
  }
  /// The same for a word that stays in the sleeper's cache, because nobody writes it until it wakes the sleeper up.
  template <typename Predicate>
  bool wait(SimThread& self, Category category, Predicate still_wanted) {
    enter(self, category);
    return sleep_if(self, category, still_wanted);
  }

  /// Wakes up to `count` of those who sleep now, or are about to; sleepers run again wake_latency after the call, or when they get a
  /// core. Returns how many were woken. Where calls take turns (FutexParameters::vain_call) the kernel takes the sleepers off its
  /// queue when it is this call's turn and their lines have come; else at the start of the call, so that the caller's time may pass later.
  int wake(SimThread& self, int count, Category category) {
    const FutexParameters& prices = host_.futex();
    self.settle();
    Duration rest = prices.empty_wake_call;
    if (takes_turns()) {
      self.spend(prices.empty_wake_call.scaled(until_bucket) + jitter(), category);
      rest = prices.empty_wake_call.scaled(1 - until_bucket);
      if (!bucket_.look(self, category)) {
        self.owe(rest, category);
        self.leave_kernel();
        return 0;
      }
      bucket_.take(self, category);
    } else {
      rest += jitter();
    }
    const Duration taking = takes_turns() ? time_to_take(self, count) : Duration{};
    if (taking > Duration{}) {
      self.stall(taking, category);
    }
    Duration spent = self.on_its_core(rest);
    int woken = 0;
    bool interrupts = false;
    for (; woken < count && !sleepers_.empty(); ++woken) {
      Sleeper& sleeper = *sleepers_.front();
      sleepers_.pop_front();
      sleeper.woken = true;
      if (!sleeper.asleep) {
        continue; // it finds that out before it gives up its core
      }
      spent +=
          self.on_its_core(interrupts ? prices.wake_further
                                      : on_top_of_empty(sleeper.thread->wake_call(self, prices.wake_call), taking));
      interrupts = true;
      const bool deep = engine_.now() - sleeper.since >= prices.deep_after;
      sleeper.thread->wake_at(
          engine_.now() + spent,
          (deep ? prices.wake_latency : prices.shallow_latency) + jitter_.exponential(prices.wake_jitter), self);
    }
    bucket_.retract(woken);
    if (takes_turns()) {
      bucket_.give_back(self); // from here on whoever was woken may be gone, and this futex with it
    }
    if (interrupts && spent == Duration{}) {
      self.spend(Duration{}, category); // they are in a run queue when the call is over, however short it is
    }
    self.owe_time(spent, category);
    self.leave_kernel();
    return woken;
  }

  [[nodiscard]] std::size_t sleepers() const { return sleepers_.size(); }
  [[nodiscard]] std::string describe() const override { return "futex '" + name_ + "'"; }

private:
  /// On the stack of its thread, until somebody has woken it.
  struct Sleeper {
    SimThread* thread = nullptr;
    TimePoint since;
    bool asleep = false; ///< has given up its core
    bool woken = false;
  };

  /// Part of an empty call until it is at the bucket.
  static constexpr double until_bucket = 0.5;
  /// Lines that a call fetches to take a sleeper off the queue (Linux, futex_wake_mark()): two of the queue's element, which lies
  /// on the sleeper's stack (struct futex_q), and of its struct task_struct the count of references and the link of the list of
  /// those to wake (wake_q_add_safe()).
  static constexpr int lines_of_sleeper = 4;

  [[nodiscard]] bool takes_turns() const { return host_.futex().vain_call > Duration{}; }
  /// What a call that wakes takes more than one that finds nobody.
  [[nodiscard]] Duration on_top_of_empty(Duration call, Duration spent_already) const {
    const Duration more = call - host_.futex().empty_wake_call;
    return takes_turns() ? std::max(more - spent_already, Duration{}) : more;
  }
  [[nodiscard]] Duration jitter() { return jitter_.exponential(host_.futex().call_jitter); }
  [[nodiscard]] Duration until_comparison() const {
    return takes_turns() ? host_.futex().vain_call.scaled(until_bucket) : host_.futex().wait_call;
  }

  /// What it takes to take up to `count` off the queue, in which each element is linked to the next one (plist_del()).
  [[nodiscard]] Duration time_to_take(const SimThread& self, int count) const {
    Duration time{};
    for (std::size_t i = 0; i < sleepers_.size() && i < static_cast<std::size_t>(count); ++i) {
      time += lines_of_sleeper * distance(*sleepers_[i], self);
      if (i + 1 < sleepers_.size()) {
        time += distance(*sleepers_[i + 1], self);
      }
    }
    return time;
  }
  /// What it takes to join the queue: the first element is read and the last one written (plist_add()).
  [[nodiscard]] Duration time_to_join(const SimThread& self) const {
    if (sleepers_.empty()) {
      return {};
    }
    const Duration last = distance(*sleepers_[sleepers_.size() - 1], self);
    return sleepers_.size() == 1 ? last : distance(*sleepers_.front(), self) + last;
  }
  [[nodiscard]] Duration distance(const Sleeper& sleeper, const SimThread& self) const {
    return host_.transfer(sleeper.thread->core(), self.core());
  }

  void enter(SimThread& self, Category category) {
    self.spend(until_comparison() + jitter(), category);
    if (takes_turns()) {
      bucket_.announce();
      bucket_.take(self, category);
    }
  }
  template <typename Predicate>
  bool sleep_if(SimThread& self, Category category, Predicate still_wanted) {
    const FutexParameters& prices = host_.futex();
    if (!still_wanted()) {
      if (takes_turns()) {
        bucket_.give_back(self);
        bucket_.retract(1);
        self.spend(prices.vain_call.scaled(1 - until_bucket), category);
      }
      if (prices.call_jitter == Duration{} && ++in_vain_ > strict) [[unlikely]] {
        self.spend(until_comparison().scaled(jitter_.uniform()), category);
      }
      self.leave_kernel();
      return false;
    }
    in_vain_ = 0;
    Duration rest = prices.wait_call - until_comparison();
    Sleeper sleeper{&self, engine_.now()};
    if (takes_turns()) {
      const Duration joining = time_to_join(self);
      sleepers_.push_back(&sleeper);
      if (joining > Duration{}) {
        self.stall(joining, category);
      }
      bucket_.give_back(self);
      rest = rest - joining;
    } else {
      sleepers_.push_back(&sleeper);
    }
    if (rest > Duration{}) {
      self.spend(rest, category);
      self.settle();
    }
    if (!sleeper.woken) {
      sleeper.asleep = true;
      self.wait(*this, category, Waiting::asleep);
    }
    return true;
  }

  /// Without call_jitter a thread can come in exact step with one that gives the lock back and takes it again, and compare
  /// in vain for ever. No two cores are that strict: after so many times in a row the calls vary by as much as they take.
  static constexpr int strict = 100;

  Engine& engine_;
  const Host& host_;
  FutexBucket bucket_;
  RingQueue<Sleeper*> sleepers_;
  int in_vain_ = 0; ///< comparisons since a thread last slept
  RandomStream jitter_;
  std::string name_;
};

} // namespace contend
