// What every lock can do. What it costs emerges from the cache lines and system calls of its algorithm.
#pragma once

#include "core/cache_line.hpp"
#include "core/engine.hpp"
#include "core/host.hpp"
#include "models/locks/parameters.hpp"
#include "models/registry.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace contend {

class Lock;

/// Somebody whose idle polling of a lock is not simulated event by event, and who must come back to life before anyone
/// else touches the lock.
class LockVisitor {
public:
  virtual ~LockVisitor() = default;
  virtual void before_touch(Lock& lock) = 0;
};

/// A lock of one process. Time is charged to the category the caller names: lock_wait, or poll_idle for a poller. A wait for
/// another holder is lock_wait whoever waits.
class Lock : public Waitable {
public:
  Lock(Engine& engine, std::string_view name) : engine_(engine), label_(std::string(name)) {}
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() override = default;

  /// Returns when `self` holds the lock. Requires: `self` does not hold it. `if_free` is what taking it is charged to if
  /// nobody else held it meanwhile.
  void lock(SimThread& self, Category if_free = Category::lock_wait);
  /// Takes the lock if it is free; never waits for another holder. Returns whether `self` holds it now.
  [[nodiscard]] bool try_lock(SimThread& self, Category category = Category::lock_wait);
  /// What is done by somebody who has the lock; `runner` is the thread that does it.
  using Section = std::function<void(SimThread& runner)>;
  /// Returns when `section` has been run, alone among the sections and holders of this lock: by `self` between lock() and
  /// unlock(), or by another thread that has the lock, where the algorithm does that.
  void execute(SimThread& self, const Section& section, Category if_free = Category::lock_wait);
  /// Requires: `self` holds the lock; throws InvariantViolation otherwise.
  void unlock(SimThread& self, Category category = Category::lock_wait);

  /// From now on whoever takes the lock changes so many cache lines of `host` that it guards, one after the other; they lie with
  /// who had it last. None by default.
  void guards(const Host& host, int lines);

  /// From now on the lock lies in an array between others, so close that its first bytes are on the cache line of the one before and
  /// its last ones on that of the one after: whoever takes it or gives it back writes both. The lines outlive the lock.
  void lies_between(CacheLine& before, CacheLine& after) { shared_lines_ = {&before, &after}; }
  /// Whether holders of other locks take its lines away.
  [[nodiscard]] bool shares_lines() const { return shared_lines_[0] != nullptr; }

  /// What a thread of the lock's own does, for kinds that have one: whoever made the lock spawns it as a daemon, on a core of
  /// the same host. Call it at most once. Where it is not called, execute() is lock(), section and unlock().
  [[nodiscard]] virtual SimThread::Body own_thread() { return nullptr; }

  [[nodiscard]] const SimThread* holder() const { return holder_; }
  [[nodiscard]] const std::string& name() const { return label_.name; }
  [[nodiscard]] std::uint64_t acquisitions() const { return acquisitions_; }
  /// Acquisitions that found another holder.
  [[nodiscard]] std::uint64_t contended() const { return contended_; }
  /// Calls of execute() whose section another thread has run: these are no acquisitions.
  [[nodiscard]] std::uint64_t delegated() const { return delegated_; }
  [[nodiscard]] std::string describe() const override;

  /// Nobody holds the lock, waits for it or is in one of its calls.
  [[nodiscard]] bool quiet() const { return holder_ == nullptr && calls_ == 0 && engine_.now() >= leaving_until_; }

  /// Whether nobody else has taken the lock since `thread` did: its lines are where that one left them.
  [[nodiscard]] bool last_taken_by(const SimThread& thread) const { return last_ == &thread; }

  /// At most one visitor at a time; nullptr: none.
  void set_visitor(LockVisitor* visitor) { visitor_ = visitor; }
  [[nodiscard]] bool visited() const { return visitor_ != nullptr; }
  /// Whether skipped polls leave the lock as a visitor thinks they do: calls that take several steps, or lines that change
  /// from call to call, say no.
  [[nodiscard]] virtual bool can_be_visited() const { return true; }
  /// The same for visits by lock(), where that takes several steps although try_lock() does not.
  [[nodiscard]] virtual bool can_be_visited_by_lock() const { return can_be_visited(); }
  /// What the lock guards has changed, or somebody is about to use the lock: a visitor comes back to life.
  void disturb_visitor() {
    if (visitor_ != nullptr) [[unlikely]] {
      visitor_->before_touch(*this);
    }
  }
  /// `visitor_thread` holds the lock from now on without any time passing: the state its skipped polls would have left.
  void grant(SimThread& visitor_thread);
  /// A visitor would be giving the lock back until then: the lock is not quiet before.
  void leave_until(TimePoint time) { leaving_until_ = time; }

protected:
  virtual void do_lock(SimThread& self, Category category) = 0;
  /// For execute(). Returns whether `self` has the lock; false: another thread has run `section`.
  virtual bool do_lock_or_delegate(SimThread& self, Category category, const Section& /*section*/) {
    do_lock(self, category);
    return true;
  }
  virtual bool do_try_lock(SimThread& self, Category category) = 0;
  virtual void do_unlock(SimThread& self, Category category) = 0;
  /// Sets the algorithm's state to "held by self".
  virtual void do_grant(SimThread& self) = 0;
  /// do_unlock() calls this at the moment from which another thread can have the lock; until then `self` holds it. An
  /// algorithm that does not say so has released the lock when the next thread has it or do_unlock() is over.
  void released() {
    holder_ = nullptr;
    releasing_ = nullptr;
    held_until_ = engine_.now();
  }

  /// Runs the section of another thread on the way out of do_unlock(), where the algorithm does that.
  void serve(SimThread& self, const Section& section);

  [[nodiscard]] Engine& engine() const { return engine_; }

private:
  /// lock() and what execute() begins with; returns whether `self` has the lock.
  bool take(SimThread& self, Category if_free, const Section* section);
  void acquired(SimThread& self, Category charged_to);
  /// Brings what the lock guards to its holder. An idle poll that finds it there is a poll and nothing else.
  void fetch_guarded(SimThread& self, Category taken_for) {
    if (guarded_lines_ > 0) {
      const bool is_poll = taken_for == Category::poll_idle && guarded_->owner() == self.core();
      guarded_->store_protected(self, guarded_lines_, is_poll ? Category::poll_idle : Category::line_transfer);
    }
  }

  /// Brings the lines that the lock shares with its neighbours. One that this core still has is charged at once and may be taken away
  /// before that time has passed, which is less than a transfer.
  void write_shared_lines(SimThread& self) {
    if (shares_lines()) [[unlikely]] {
      for (CacheLine* const line : shared_lines_) {
        line->store_protected(self, Category::line_transfer);
      }
    }
  }

  Engine& engine_;
  std::array<CacheLine*, 2> shared_lines_{};
  std::unique_ptr<CacheLine> guarded_;
  int guarded_lines_ = 0;
  SimThread* holder_ = nullptr;
  const SimThread* releasing_ = nullptr; ///< the holder, while it is in do_unlock()
  LockVisitor* visitor_ = nullptr;
  TimePoint leaving_until_;
  TimePoint held_until_; ///< by the last one who gave it back
  std::uint64_t acquisitions_ = 0;
  const SimThread* last_ = nullptr; ///< who took it last
  std::uint64_t others_until_ = 0;  ///< acquisitions before that thread's row of them
  std::uint64_t contended_ = 0;
  std::uint64_t delegated_ = 0;
  int calls_ = 0; ///< threads inside lock, try_lock or unlock
  TraceLabel label_;
};

/// Engine and host outlive the lock; parameters and name live only as long as the call: keep copies.
using LockFactory = std::unique_ptr<Lock> (*)(Engine&, const Host&, const LockParameters&, std::string_view name);

/// All lock kinds by name. Adding one: a new file with a class derived from Lock, and one line in registry.cpp (or a
/// call of add() before the first simulation).
Registry<LockFactory>& lock_registry();

template <typename Kind>
std::unique_ptr<Lock> make_lock(Engine& engine, const Host& host, const LockParameters& parameters,
                                std::string_view name) {
  return std::make_unique<Kind>(engine, host, parameters, name);
}

} // namespace contend
