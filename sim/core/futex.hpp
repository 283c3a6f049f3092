// Sleeping in the kernel until another thread wakes us (Linux futex).
#pragma once

#include "core/cache_line.hpp"
#include "core/engine.hpp"
#include "core/host.hpp"
#include "core/ring_queue.hpp"

#include <string>
#include <string_view>

namespace contend {

/// Wait queue of one futex word. The caller owns the word; sleepers are woken in order of arrival.
class Futex final : public Waitable {
public:
  Futex(Engine& engine, const Host& host, std::string_view name)
      : engine_(engine), host_(host), jitter_(engine.stream(std::string(name) + "/kernel")), name_(name) {}

  /// Enters the kernel and sleeps if `still_wanted()` is true at the end of the call. FUTEX_WAIT compares the word under its bucket's
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

  /// Wakes up to `count` of those who sleep now; they run again wake_latency after the call, or when they get a core. Returns how many were woken.
  /// The kernel takes them off its queue at the start of the call, so the caller's time may pass later.
  int wake(SimThread& self, int count, Category category) {
    self.settle();
    const FutexParameters& prices = host_.futex();
    const Duration call =
        (sleepers_.empty() ? prices.empty_wake_call : sleepers_.front().thread->wake_call(self, prices.wake_call)) +
        jitter_.exponential(prices.call_jitter);
    Duration spent = call;
    int woken = 0;
    while (woken < count && !sleepers_.empty()) {
      spent += woken > 0 ? prices.wake_further : Duration{};
      const Sleeper sleeper = sleepers_.front();
      const bool deep = engine_.now() - sleeper.since >= prices.deep_after;
      sleeper.thread->wake_at(
          engine_.now() + spent,
          (deep ? prices.wake_latency : prices.shallow_latency) + jitter_.exponential(prices.wake_jitter), self);
      sleepers_.pop_front();
      ++woken;
    }
    self.owe(spent, category);
    return woken;
  }

  [[nodiscard]] std::size_t sleepers() const { return sleepers_.size(); }
  [[nodiscard]] std::string describe() const override { return "futex '" + name_ + "'"; }

private:
  struct Sleeper {
    SimThread* thread = nullptr;
    TimePoint since;
  };

  void enter(SimThread& self, Category category) {
    self.spend(host_.futex().wait_call + jitter_.exponential(host_.futex().call_jitter), category);
  }
  template <typename Predicate>
  bool sleep_if(SimThread& self, Category category, Predicate still_wanted) {
    if (!still_wanted()) {
      if (host_.futex().call_jitter == Duration{} && ++in_vain_ > strict) [[unlikely]] {
        self.spend(host_.futex().wait_call.scaled(jitter_.uniform()), category);
      }
      return false;
    }
    in_vain_ = 0;
    sleepers_.push_back({&self, engine_.now()});
    self.wait(*this, category, Waiting::asleep);
    return true;
  }

  /// Without call_jitter a thread can come in exact step with one that gives the lock back and takes it again, and compare
  /// in vain for ever. No two cores are that strict: after so many times in a row the calls vary by as much as they take.
  static constexpr int strict = 100;

  Engine& engine_;
  const Host& host_;
  RingQueue<Sleeper> sleepers_;
  int in_vain_ = 0; ///< comparisons since a thread last slept
  RandomStream jitter_;
  std::string name_;
};

} // namespace contend
