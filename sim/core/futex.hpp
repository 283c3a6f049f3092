// Sleeping in the kernel until another thread wakes us (Linux futex).
#pragma once

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

  /// Enters the kernel and sleeps if `still_wanted()` is true at the end of the call, as FUTEX_WAIT compares the word
  /// under the bucket lock. Returns false when it did not sleep.
  template <typename Predicate>
  bool wait(SimThread& self, Category category, Predicate still_wanted) {
    self.spend(host_.futex().wait_call + jitter_.exponential(host_.futex().call_jitter), category);
    if (!still_wanted()) {
      return false;
    }
    sleepers_.push_back({&self, engine_.now()});
    self.wait(*this, category, Waiting::asleep);
    return true;
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

  Engine& engine_;
  const Host& host_;
  RingQueue<Sleeper> sleepers_;
  RandomStream jitter_;
  std::string name_;
};

} // namespace contend
