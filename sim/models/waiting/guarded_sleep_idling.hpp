// The waiting thread sleeps on a condition variable, and whoever signals it holds the mutex of its sync object meanwhile. When
// it has what it waits for it does not leave before the signaller has let go of the object (Open MPI: WAIT_SYNC_SIGNAL and
// WAIT_SYNC_RELEASE):
//
//   signal(sync):                          wait(sync):
//     lock(sync.mutex)                       lock(sync.mutex)
//     cond_signal(sync.condition)            while it has to wait: cond_wait(sync.condition, sync.mutex)
//     unlock(sync.mutex)                     unlock(sync.mutex)
//     sync.signalling = false                while sync.signalling: ;
//
// On a core of its own that is over in no time. Where both share a core, the waiter takes it from the signaller as it wakes
// up, sleeps for the mutex, takes the core again when it gets it, and spins until its slice is over: only then does
// the signaller come to its last line.
#pragma once

#include "models/waiting/idling.hpp"

namespace contend {

class GuardedSleepIdling final : public Idling, private Waitable {
public:
  explicit GuardedSleepIdling(const IdlingParts& /*parts*/ = {}) {}

  void idle(SimThread& self, SyncObject& sync) override {
    SyncGuard& guard = sync.guard;
    guard.idles = true;
    guard.mutex.lock(self, Category::blocked);
    if (sync.idles()) {
      guard.condition.wait(self, guard.mutex, Category::blocked);
    }
    guard.mutex.unlock(self, Category::blocked);
    guard.idles = false;
  }
  [[nodiscard]] bool idles(const SyncObject& sync) const override { return sync.guard.idles; }
  void wake(SimThread& self, SyncObject& sync, Category category, bool told) override {
    SyncGuard& guard = sync.guard;
    guard.signalling = guard.signalling || !told; // a promotion does not end what a completion has begun
    guard.mutex.lock(self, category);
    guard.condition.notify_one(self, category);
    guard.mutex.unlock(self, category);
    if (!told) {
      guard.line.store(self, category);
      guard.signalling = false;
      guard.leavers.notify();
    }
  }
  void signal_poller(SimThread& self, SyncObject& sync, Category category) override {
    wake(self, sync, category, false); // wait_sync_update() does not know whether anybody sleeps
  }
  void leave(SimThread& self, SyncObject& sync) override {
    if (sync.guard.signalling) {
      sync.guard.leavers.wait(self, Category::lock_wait, *this, [&] { return !sync.guard.signalling; });
    }
  }

private:
  [[nodiscard]] std::string describe() const override { return "the signaller of its sync object"; }
};

} // namespace contend
