// The sync object (Open MPI's wait_sync; D ch. 4): a counter of incomplete requests on one cache line. The waiter attaches
// it to each request by compare-and-swap; who completes a request swaps its state, finds the sync object there, and
//
//   SYNC_UPDATE(sync): if fetch_sub(sync.count, 1) == 1: signal
//
// The waiter reads one line, however many requests it waits for.
#pragma once

#include "models/waiting/notification.hpp"

namespace contend {

class CounterNotification final : public Notification {
public:
  explicit CounterNotification(const NotificationParts& parts) : exclusive_(parts.exclusive) {}

  void begin(SimThread& self, SyncObject& sync, int /*requests*/) override {
    if (exclusive_) {
      sync.line.store_protected(self, Category::line_transfer);
    } else {
      sync.line.store(self, Category::line_transfer);
    }
  }
  void publish(SimThread& self, SyncObject& sync) override {
    if (exclusive_) {
      sync.line.store_protected(self, Category::completion);
    } else {
      sync.line.atomic(self, Category::completion);
    }
  }
  void look(SimThread& self, SyncObject& sync, Category category) override { sync.line.load(self, category); }

private:
  bool exclusive_;
};

} // namespace contend
