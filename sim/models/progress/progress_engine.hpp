// How waiting threads make progress: the policy behind MPI_Wait.
#pragma once

#include "core/engine.hpp"
#include "core/host.hpp"
#include "models/locks/lock.hpp"
#include "models/progress/sync_object.hpp"
#include "models/registry.hpp"

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace contend {

/// What a progress engine drives.
class ProgressSource {
public:
  virtual ~ProgressSource() = default;

  /// One turn: polls every target once and handles what it finds. Returns how much that was.
  virtual int progress(SimThread& self) = 0;
  /// Called instead of progress() after a turn that found nothing: may let simulated time pass over any number of such
  /// turns at once (see IdlePoll), and returns like progress() when something may have changed.
  virtual int progress_after_idle(SimThread& self) = 0;
};

class ProgressEngine {
public:
  virtual ~ProgressEngine() = default;

  /// Returns when sync.pending is 0. Several threads of the process may be inside.
  virtual void wait(SimThread& self, SyncObject& sync) = 0;
  /// `sync.pending` has just become 0; called by the thread that completed the last request.
  virtual void completed(SimThread& self, SyncObject& sync) = 0;
};

/// What a progress engine is built from.
struct ProgressParts {
  Engine& engine;
  const Host& host;
  ProgressSource& source;
  std::function<std::unique_ptr<Lock>(std::string_view name)> make_lock; ///< a lock of the design's kind
  Duration pause{};                                                      ///< one turn of a spin loop
  std::string_view name;
};

using ProgressFactory = std::unique_ptr<ProgressEngine> (*)(const ProgressParts&);

/// All progress engines by name.
Registry<ProgressFactory>& progress_registry();

} // namespace contend
