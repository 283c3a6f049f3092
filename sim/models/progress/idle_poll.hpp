// Idle polling at the price of one event: a poller whose turns find nothing sleeps in the simulation, and comes back to
// life inside the turn it would have been in when somebody else touches what it polls.
#pragma once

#include "core/engine.hpp"
#include "core/repetition.hpp"
#include "models/locks/lock.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// One turn of a poll loop that found nothing: when, from its start, each lock was tried, the queue behind it seen, and the
/// lock given back.
struct PollTurn {
  static constexpr int nobodys = -1; ///< no interface's queue
  struct Visit {
    Lock* lock = nullptr; ///< none: a queue that is looked at without one
    Duration try_at;
    Duration look_at;
    Duration done_at;
    int target = nobodys; ///< whose queue it is
    Duration begin_at{};  ///< the look begins
    bool drawn = false;   ///< the target was the next one of a number that threads share
    bool kept = false;    ///< the lock has been held since the visit before
    bool operator==(const Visit&) const = default;
  };
  std::vector<Visit> visits;
  /// Where cores are shared: see SimThread::note_uninterrupted().
  std::vector<UninterruptedSpan> uninterrupted;
  Duration period{};
  bool undisturbed = false; ///< every lock was free and every queue empty
  /// Cache lines that the poller had fetched from elsewhere before the turn.
  std::uint64_t line_transfers = 0;

  void start(const SimThread& self) {
    visits.clear();
    undisturbed = true;
    line_transfers = self.line_transfers();
  }

  [[nodiscard]] bool as_long_as(const PollTurn& other) const {
    return period == other.period && visits == other.visits;
  }
};

/// Told of turns that were not simulated to their end.
class RestObserver {
public:
  virtual ~RestObserver() = default;
  /// The rest is over in the middle of a turn, whose visits up to this one, counted from 0, count as begun.
  virtual void interrupted(const PollTurn& turn, std::size_t visit) = 0;
};

/// Skipping is exact, but for the order of equal dates and for threads that meet a lock while it is being released in
/// several steps (MCS), because a turn that finds nothing leaves everything as it was: after two turns of equal times all
/// further ones are the same, until an arrival or another thread's access. At that moment the state of the skipped turn is
/// restored: if the turn would hold a lock just then, the lock is granted to the poller.
/// Where cores are shared the same happens when the operating system is about to interfere with the poller.
class IdlePoll final : public Waitable, private LockVisitor, private Repetition {
public:
  IdlePoll(Engine& engine, bool enabled, std::string_view name, RestObserver* observer = nullptr)
      : engine_(engine), enabled_(enabled), observer_(observer), alarm_(engine, *this), name_(name) {}

  /// Where a poller goes on.
  struct Resumption {
    std::int64_t turns = 0; ///< whole turns that were skipped
    bool inside = false;    ///< in the middle of a turn, at visits[visit]; else at the start of one
    std::size_t visit = 0;
    bool looking = false; ///< the visit's lock is held and the look at its queue is just over; else about to be tried
    bool leaving = false; ///< it has found nothing, and the lock is to be given back
  };

  /// Call after a turn that found nothing, with `quiet` telling that nothing has come into sight since. `last` is the last
  /// turn of this kind that could have been followed by equal ones, or a new one; it must live until this call returns.
  /// Skips at most `limit` turns if this one is equal to it and nobody else rests on one of the locks, else none. Requires
  /// that `self` has passed a SimThread::preemption_point() at this moment.
  Resumption rest(SimThread& self, const PollTurn& turn, PollTurn& last, bool quiet,
                  std::int64_t limit = std::numeric_limits<std::int64_t>::max());

  /// Something that the poller would see has changed, or is about to.
  void disturb();

  /// Turns that were skipped so far.
  [[nodiscard]] std::uint64_t skipped_turns() const { return skipped_; }
  [[nodiscard]] std::string describe() const override { return "something to do: " + name_ + " polls in vain"; }

private:
  /// Ends a rest at its limit.
  class Alarm final : public Event {
  public:
    Alarm(Engine& engine, IdlePoll& poll) : Event(engine), poll_(poll) {}
    void fire() override { poll_.limit_reached(); }

  private:
    IdlePoll& poll_;
  };

  void before_touch(Lock& /*lock*/) override { disturb(); }
  RepeatedPlace cut_short() override { return come_back(true); }
  [[nodiscard]] RepeatedPlace come_back(bool cut);
  void enter_turn(SimThread& poller, RepeatedPlace& place);
  void stop_in_turn(SimThread& poller, RepeatedPlace& place);
  void go_on_at(SimThread& poller, const PollTurn::Visit& visit, bool looking);
  void limit_reached();
  void set_visitor(LockVisitor* visitor);

  Engine& engine_;
  bool enabled_;
  RestObserver* observer_; ///< none: nobody has to know
  SimThread* sleeper_ = nullptr;
  TimePoint asleep_since_;
  TimePoint deadline_ = TimePoint::never();
  Resumption resumption_;
  const PollTurn* steady_ = nullptr; ///< the turn that is being repeated
  std::uint64_t skipped_ = 0;
  Alarm alarm_;
  std::string name_;
};

} // namespace contend
