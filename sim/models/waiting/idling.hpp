// What a thread does that waits while others make progress for it.
#pragma once

#include "core/engine.hpp"
#include "models/registry.hpp"
#include "models/waiting/sync_object.hpp"
#include "models/waiting/task_pool.hpp"

#include <memory>

namespace contend {

/// A thread idles until it has nothing left to wait for, or is told to make progress itself. No wake-up may get lost: who
/// changes the sync object after the last look of its thread finds it idling.
class Idling {
public:
  virtual ~Idling() = default;

  /// Returns when sync.idles() is false, or sooner: the caller looks and comes back.
  virtual void idle(SimThread& self, SyncObject& sync) = 0;
  /// Whether the thread of `sync` idles, as far as others can see.
  [[nodiscard]] virtual bool idles(const SyncObject& sync) const = 0;
  /// sync.idles() has become false: its thread goes on. `told`: by a write of its own, for which `self` has to pay;
  /// else by the line of the counter, which `self` has just written.
  virtual void wake(SimThread& self, SyncObject& sync, Category category, bool told) = 0;
  /// sync.pending has become 0 while its thread made progress itself: `self`, who may be that thread, signals all the same.
  virtual void signal_poller(SimThread& /*self*/, SyncObject& /*sync*/, Category /*category*/) {}
  /// The thread of `sync` has nothing left to wait for, and is done with it.
  virtual void leave(SimThread& /*self*/, SyncObject& /*sync*/) {}
};

struct IdlingParts {
  TaskPool* tasks = nullptr; ///< of the process, if its library has tasks
};

using IdlingFactory = std::unique_ptr<Idling> (*)(const IdlingParts&);

/// All kinds of idling by name.
Registry<IdlingFactory>& idling_registry();

} // namespace contend
