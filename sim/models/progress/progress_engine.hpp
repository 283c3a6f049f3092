// How waiting threads make progress: the policy behind MPI_Wait.
#pragma once

#include "core/engine.hpp"
#include "core/host.hpp"
#include "models/locks/lock.hpp"
#include "models/progress/parameters.hpp"
#include "models/registry.hpp"
#include "models/waiting/sync_object.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string_view>

namespace contend {

class Idling;

/// What a progress engine drives: the instances of one process, and what else there is to do. A turn of the progress loop
/// is begin_turn(), any number of polls, end_turn(); several threads may be in a turn at the same time.
class ProgressSource {
public:
  /// What a poll does when somebody else holds the lock of the target.
  enum class IfHeld { skip, wait };

  /// When a turn takes a random bit longer, as every call of the library does (machine.noise). Turns that may be skipped
  /// must be alike; threads that poll against each other in exact step can keep one of them from a lock for ever.
  enum class Noise { never, always };

  virtual ~ProgressSource() = default;

  /// Enters the library's progress function.
  virtual void begin_turn(SimThread& self, Noise noise) = 0;
  /// Polls one target, 0 .. targets() - 1, under its lock, and handles what it finds. Returns how much that was.
  virtual int poll(SimThread& self, int target, IfHeld if_held) = 0;
  /// Takes the commands that other threads have queued for this one. Returns how many there were.
  virtual int take_commands(SimThread& self) = 0;
  /// Does what is not tied to a target (sends that were delayed) and leaves. Returns how much that was.
  virtual int end_turn(SimThread& self) = 0;

  [[nodiscard]] virtual int targets() const = 0;
  /// Where `self` looks first: its own instance, or those of the requests that `sync` waits for.
  [[nodiscard]] virtual std::span<const int> own_targets(SimThread& self, SyncObject& sync) = 0;

  /// A number that the threads of the process share, plus one, modulo targets().
  virtual int next_target(SimThread& self) = 0;

  /// How a rest ended.
  struct Rest {
    std::int64_t turns = 0; ///< whole turns that were skipped
    bool under_way = false; ///< the next turn has begun already: calling it lets it go on in its middle
    /// The caller should look at its own condition before the next turn.
    [[nodiscard]] bool look_again() const { return turns > 0 && !under_way; }
  };
  /// May be called after a turn that found nothing, when the next ones would do the same: lets simulated time pass over
  /// at most `limit` such turns at once (see IdlePoll).
  virtual Rest rest(SimThread& self, std::int64_t limit) = 0;
  /// Turns of resting threads will not be alike any more: they go on from where they are.
  virtual void end_rests() = 0;
  /// The thread that waits with `sync` has nothing left to wait for: if it rests, it goes on from where it is.
  virtual void end_rest_of(const SyncObject& sync) = 0;
  /// `self` takes no more turns until its next wait.
  virtual void stop(SimThread& self) = 0;

  /// A turn that polls every target once.
  int progress(SimThread& self, Noise noise) {
    begin_turn(self, noise);
    int found = 0;
    for (int target = 0; target < targets(); ++target) {
      found += poll(self, target, IfHeld::skip);
    }
    return found + end_turn(self);
  }

  static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
};

/// What a progress engine says of itself. Checks of scenarios and the process ask this instead of its name.
struct ProgressTraits {
  /// The process gives the engine a thread and a core of its own (ProgressEngine::run_thread), and application threads hand
  /// their operations to it as commands. Else whoever waits makes progress.
  bool own_thread = false;
  /// ProgressDesign::threads_in_progress says how many waiting threads poll at a time.
  bool limits_pollers = false;
  /// Some waiting threads do not poll, whatever the limit is: they go through ProgressParts::idling.
  bool threads_idle = false;
  /// The same, but without a limit all waiting threads poll.
  bool threads_idle_beyond_limit = false;
  /// Every waiting thread polls, and looks at its requests by SyncObject::look between turns: it needs no counter, flags of
  /// requests do (NotificationTraits::request_flags).
  bool reads_flags = false;
  /// There is a request_lock(), which is taken by threads that hold the lock of an instance.
  bool locks_requests = false;
  /// Waiting threads poll their own_targets(), all others only at every ProgressDesign::global_every-th turn.
  bool polls_own_targets = false;
};

class ProgressEngine {
public:
  /// A class that has something to say declares its own: `static constexpr ProgressTraits traits{.own_thread = true};`.
  static constexpr ProgressTraits traits{};

  virtual ~ProgressEngine() = default;

  /// Returns when sync.pending is 0 or less. Several threads of the process may be inside.
  virtual void wait(SimThread& self, SyncObject& sync) = 0;
  /// One turn of progress by a thread that tests and does not wait; `sync` is its own. Returns how much it found. Default:
  /// one that polls every target, whoever else makes progress (Open MPI's MPI_Test calls opal_progress itself).
  virtual int test(SimThread& self, SyncObject& sync, ProgressSource& source);
  /// True: test() asks for a lock that is held over turns of progress, so that whoever calls it may hold no lock that a turn
  /// takes.
  [[nodiscard]] virtual bool locks_turns() const { return false; }
  /// `sync.pending` has just become smaller, and is not 0; called by the thread that completed a request.
  virtual void advanced(SimThread& /*self*/, SyncObject& /*sync*/) {}
  /// A request is complete that no thread waits for, yet.
  virtual void completed_unwatched(SimThread& /*self*/) {}
  /// `sync.pending` has just become 0; called by the thread that completed the last request.
  virtual void completed(SimThread& self, SyncObject& sync) = 0;
  /// What guards the state of all requests, if anything does: who gives one back that the application had holds it. To be
  /// stated (ProgressTraits::locks_requests).
  [[nodiscard]] virtual Lock* request_lock() { return nullptr; }

  /// The body of the engine's own thread, if it has one (ProgressTraits::own_thread); ends with the simulation.
  virtual void run_thread(SimThread& /*self*/) {}
};

/// What a progress engine is built from. Engine, host, source and idling outlive it; the name lives only as long as the call,
/// and locks are made during it.
///
/// An engine whose threads may have to leave polling to others lets them wait by `idling`, in the way that the design names
/// (library.waiting.idle). WaitRing does all of this for an engine that limits how many threads poll; one that decides otherwise
/// who polls keeps these rules:
///
///   wait(sync):                                            what the engine sees to
///     if sync.pending > 0:
///       sync.promoted = false                              the engine's field: nobody else sets or resets it
///       enqueue sync, or promote it, under a lock          of the engine, taken as lock_wait, and given back before idling
///       WaitScope: while sync.idles(): idling.idle(sync)   idle() may return early
///       if sync.pending > 0:
///         ServiceScope: take turns until sync.pending <= 0
///         source.stop()                                    after a thread's last turn: before it idles, or waits otherwise
///       dequeue sync; promote(another) if nobody polls     or those who idle do for ever
///     idling.leave(sync)                                   at the end of each wait, even one that had nothing to wait for: it
///                                                          may wait there for who signals, which uses the object until then
///   promote(sync):                                         while `sync` is known to wait: under that lock
///     sync.promoted = true                                 before wake(), which finds sync.idles() false
///     idling.wake(sync, Category::lock_wait, told: true)   told by a write of its own, whose price `self` pays
///   completed(sync):                                       sync.pending is 0, and its line written
///     if idling.idles(sync):
///       idling.wake(sync, Category::completion, told: false)
///     else:                                                its thread polls, or has yet to look
///       source.end_rest_of(sync)                           if the engine uses rest()
///       idling.signal_poller(sync, Category::completion)
///
/// Whoever promotes a thread may do so before it idles: idle() looks again before it sleeps, so no wake-up is lost. Time of a
/// thread that idles is charged by idle(), as blocked or poll_idle; waking another one up is lock_wait for who hands polling
/// over, and completion for who completes. Only a thread that polls alone may use rest(): one that joins it calls
/// source.end_rests() first. Both scopes and WaitScope::answer() before each wake() have the same TraceLabel, a member of the engine;
/// `contend explain` knows by them for whom threads wait (docs/tracing.md, "For models"), and nothing else depends on them.
struct ProgressParts {
  Engine& engine;
  const Host& host;
  ProgressSource& source;
  std::function<std::unique_ptr<Lock>(std::string_view name)> make_lock; ///< a lock of the design's kind
  Duration pause{};                                                      ///< one turn of a spin loop
  std::string_view name;
  ProgressDesign design;
  Idling* idling = nullptr; ///< what threads do that may not make progress; none: they sleep (SleepIdling)
};

inline int ProgressEngine::test(SimThread& self, SyncObject& /*sync*/, ProgressSource& source) {
  return source.progress(self, ProgressSource::Noise::always);
}

using ProgressFactory = PartFactory<ProgressEngine, ProgressTraits, const ProgressParts&>;

/// All progress engines by name.
Registry<ProgressFactory>& progress_registry();

template <typename Kind>
inline constexpr ProgressFactory make_progress = ProgressFactory::of<Kind>();

} // namespace contend
