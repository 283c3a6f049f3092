// Before sync objects: a request has a flag, and a waiter reads the flags of all its requests again and again (D ch. 4, the
// legacy wait):
//
//   wait(requests): while any request is not complete: lock(progress); make progress; unlock(progress)
//
// Who completes a request takes its line from the waiter, which has to fetch it back at its next look.
#pragma once

#include "models/matching/queue_walk.hpp"
#include "models/waiting/notification.hpp"

#include <utility>

namespace contend {

class FlagNotification final : public Notification {
public:
  static constexpr NotificationTraits traits{.request_flags = true};

  explicit FlagNotification(const NotificationParts& parts) : host_(parts.host), prices_(parts.prices) {}

  void begin(SimThread& self, SyncObject& sync, int requests) override {
    sync.requests = requests;
    sync.core = self.core();
    sync.to_fetch = Duration{};
  }
  void publish(SimThread& self, SyncObject& sync) override {
    self.spend_time(host_.transfer(sync.core, self.core()), Category::completion);
    if (self.core() != sync.core) {
      sync.to_fetch += host_.transfer(self.core(), sync.core);
    }
  }
  void look(SimThread& self, SyncObject& sync, Category category) override {
    QueueWalk walk(host_, prices_.check, self.core());
    walk.visit(sync.requests);
    self.spend(walk.price(sync.requests * prices_.request_bytes, prices_.misses_at_once) +
                   std::exchange(sync.to_fetch, {}),
               category);
  }

private:
  const Host& host_;
  WaitingParameters prices_;
};

} // namespace contend
