// How a thread learns that requests which it waits for are complete.
#pragma once

#include "core/engine.hpp"
#include "core/host.hpp"
#include "models/registry.hpp"
#include "models/waiting/parameters.hpp"
#include "models/waiting/sync_object.hpp"

#include <memory>

namespace contend {

/// What a way to learn of completions says of itself. Checks of scenarios ask this instead of its name.
struct NotificationTraits {
  /// Requests have flags, which their waiter reads: it has to look (SyncObject::look) until it has seen them all, and nobody
  /// can tell it (ProgressTraits::reads_flags).
  bool request_flags = false;
};

/// What the waiter and those who complete its requests do to a sync object, and what that costs. That `pending` is right
/// is not their business.
class Notification {
public:
  /// A class that has something to say declares its own: `static constexpr NotificationTraits traits{.request_flags = true};`.
  static constexpr NotificationTraits traits{};

  virtual ~Notification() = default;

  /// `self` begins to wait for some of `requests` requests.
  virtual void begin(SimThread& self, SyncObject& sync, int requests) = 0;
  /// `self` has completed a request that is waited for, and makes that known; sync.pending becomes smaller after this.
  virtual void publish(SimThread& self, SyncObject& sync) = 0;
  /// The waiter looks; sync.pending is what it saw.
  virtual void look(SimThread& self, SyncObject& sync, Category category) = 0;
};

/// The host outlives what is made from it; the parts live only as long as the call: keep a copy of the prices.
struct NotificationParts {
  const Host& host;
  WaitingParameters prices;
  bool exclusive = false; ///< only one thread at a time is inside the library: plain stores do
};

using NotificationFactory = PartFactory<Notification, NotificationTraits, const NotificationParts&>;

/// All kinds of notification by name.
Registry<NotificationFactory>& notification_registry();

template <typename Kind>
inline constexpr NotificationFactory make_notification = NotificationFactory::of<Kind>();

} // namespace contend
