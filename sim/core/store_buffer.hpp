// Stores that have left a thread and not yet reached their cache lines (CacheParameters::store_buffer).
#pragma once

#include "core/category.hpp"
#include "core/waitable.hpp"

#include <string>

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
  /// One that gives a lock back.
  void enter_release() { ++releases_; }
  /// Whether what a lock guards is still on its way.
  [[nodiscard]] bool guards() const { return guarded_ > 0; }
  /// Whether `release` has to wait for what the lock guarded: then it fires again after that.
  [[nodiscard]] bool follow(Event& release);
  /// One of the first, or of the second kind, has become visible.
  void leave(Engine& engine);
  void leave_release();
  /// `self`, whose buffer this is, stalls until it is empty: what a locked instruction does first.
  void drain(SimThread& self, Category category) {
    if (guarded_ + releases_ > 0) [[unlikely]] {
      stall(self, category);
    }
  }

private:
  void stall(SimThread& self, Category category);
  void resume_if_empty();

  int guarded_ = 0;
  int releases_ = 0;
  Event* follower_ = nullptr;
  SimThread* stalled_ = nullptr;
};

} // namespace contend
