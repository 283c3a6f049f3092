// Stores that have left a thread and not yet reached their cache lines (CacheParameters::store_buffer).
#pragma once

#include "core/category.hpp"
#include "core/waitable.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace contend {

class Engine;
class Event;
class SimThread;

/// Stores of a thread that wait for their lines while it goes on. They become visible in order.
class StoreBuffer final : public Waitable {
public:
  [[nodiscard]] std::string describe() const override { return "its own stores"; }
  /// A store to what a lock guards.
  void enter() { ++guarded_; }
  /// One that gives a lock back: `release` fires when its line has come.
  void enter_release(Event& release) { releases_.push_back({&release, guarded_, false}); }
  [[nodiscard]] bool empty() const { return guarded_ == visible_ && releases_.empty(); }
  /// Whether `release` has to wait for what was stored before it: then it fires again after that.
  [[nodiscard]] bool follow(const Event& release);
  /// One of the first kind has become visible, or the first of the second kind.
  void leave(Engine& engine);
  void leave_release(Engine& engine);
  /// `self`, whose buffer this is, stalls until it is empty: what a locked instruction does first.
  void drain(SimThread& self, Category category) {
    if (!empty()) [[unlikely]] {
      stall(self, category);
    }
  }

private:
  struct Release {
    Event* event;
    std::uint64_t after; ///< it follows so many stores to what locks guard
    bool arrived;        ///< its line has come
  };

  [[nodiscard]] bool first_is_due() const { return visible_ >= releases_.front().after; }
  void stall(SimThread& self, Category category);
  void go_on(Engine& engine);

  std::uint64_t guarded_ = 0;     ///< stores to what locks guard, so far
  std::uint64_t visible_ = 0;     ///< of these
  std::vector<Release> releases_; ///< on their way, oldest first
  SimThread* stalled_ = nullptr;
};

} // namespace contend
