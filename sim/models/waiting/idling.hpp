// What a thread does that waits while others make progress for it.
#pragma once

#include "core/engine.hpp"
#include "models/registry.hpp"
#include "models/waiting/sync_object.hpp"
#include "models/waiting/task_pool.hpp"

#include <memory>

namespace contend {

/// What a way to idle says of itself. Checks of scenarios and the process ask this instead of its name.
struct IdlingTraits {
  bool takes_tasks = false; ///< threads that idle run tasks: the process has a pool of them (IdlingParts::tasks)
};

/// A thread idles until it has nothing left to wait for, or is told to make progress itself. No wake-up may get lost: who
/// changes the sync object after the last look of its thread finds it idling.
class Idling {
public:
  /// A class that has something to say declares its own: `static constexpr IdlingTraits traits{.takes_tasks = true};`.
  static constexpr IdlingTraits traits{};

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

/// The pool outlives what is made from it; the parts live only as long as the call.
struct IdlingParts {
  TaskPool* tasks = nullptr; ///< of the process, if threads that idle take tasks (IdlingTraits::takes_tasks)
};

using IdlingFactory = PartFactory<Idling, IdlingTraits, const IdlingParts&>;

/// All kinds of idling by name.
Registry<IdlingFactory>& idling_registry();

template <typename Kind>
inline constexpr IdlingFactory make_idling = IdlingFactory::of<Kind>();

} // namespace contend
