// How often others may pass a thread that waits.
#pragma once

#include "core/engine.hpp"
#include "core/machine_parameters.hpp"

#include <cstdint>
#include <limits>
#include <utility>

namespace contend {

/// Spin locks without a queue go to whoever comes first. A thread that takes such a lock again at once may come first for
/// ever, in exact step; on no processor are two cores that strict. Here a thread that was passed more often than chance
/// among equals explains gets the lock from the next who gives it back: of n threads, one is passed 15 n times with a
/// probability of exp(-15) at most.
///
/// Threads that sleep are passed for ever in the same way where wake-ups are in step: who is woken comes when the lock has just been
/// taken again. Elsewhere chance decides, and a mutex is left as unfair as it is.
class Bypasses {
public:
  Bypasses() = default;
  /// Of threads that sleep.
  explicit Bypasses(const FutexParameters& prices) : counts_(wakes_in_step(prices)), sleep_(true) {}

  /// Calls of the kernel, or wake-ups, take the same time always.
  [[nodiscard]] static bool wakes_in_step(const FutexParameters& prices) {
    return prices.call_jitter == Duration{} || prices.wake_jitter == Duration{};
  }

  /// A thread that waits.
  class Wait {
  public:
    explicit Wait(Bypasses& all) : all_(all) { ++all.waiting_; }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    ~Wait() {
      --all_.waiting_;
      if (chosen_ != nullptr && all_.next_ == chosen_) { // it came first while it could have been given the lock
        all_.next_ = nullptr;
      }
    }

    /// The thread has looked and found the lock held.
    void missed(const SimThread& self) {
      const std::uint64_t before = std::exchange(releases_, all_.releases_);
      if (before == all_.releases_ || before == not_yet || !all_.counts_) {
        return; // by the same holder as before, or by whoever was there first
      }
      if (++passed_ >= per_thread * (all_.waiting_ + 1) && all_.next_ == nullptr) {
        all_.next_ = &self;
        chosen_ = &self;
      }
    }

  private:
    static constexpr std::uint64_t not_yet = std::numeric_limits<std::uint64_t>::max();

    Bypasses& all_;
    std::uint64_t releases_ = not_yet; ///< at the last look
    int passed_ = 0;
    const SimThread* chosen_ = nullptr; ///< this one, if it was passed too often
  };

  /// The lock is given back. Returns whether it has a new holder already. A thread that looks must have a core to see that.
  [[nodiscard]] bool hand_over() {
    ++releases_;
    if (next_ != nullptr && (sleep_ || next_->has_core())) {
      given_ = std::exchange(next_, nullptr);
    }
    return given_ != nullptr;
  }
  /// Whether this thread gets the lock from the next who gives it back, or has it: it must go on looking.
  [[nodiscard]] bool chosen(const SimThread& self) const { return next_ == &self || has(self); }
  /// Whether it has been given the lock, and does not know yet.
  [[nodiscard]] bool has(const SimThread& self) const { return given_ == &self; }
  /// Whether the lock was given to this thread, which has it from now on.
  [[nodiscard]] bool given_to(const SimThread& self) {
    if (given_ != &self) {
      return false;
    }
    given_ = nullptr;
    return true;
  }

private:
  static constexpr int per_thread = 15;

  bool counts_ = true;
  bool sleep_ = false; ///< and are woken when they get the lock
  int waiting_ = 0;
  std::uint64_t releases_ = 0;
  const SimThread* next_ = nullptr;  ///< who has been passed too often
  const SimThread* given_ = nullptr; ///< has the lock, and does not know yet
};

} // namespace contend
