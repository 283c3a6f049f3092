#include "models/progress/idle_poll.hpp"

#include <algorithm>
#include <utility>

namespace contend {

namespace {

/// There is no lock to give back, and nothing else after the last look.
bool ends_with_a_look(const PollTurn& turn) {
  return !turn.visits.empty() && turn.visits.back().look_at == turn.period;
}

} // namespace

IdlePoll::Resumption IdlePoll::rest(SimThread& self, const PollTurn& turn, PollTurn& last, bool quiet,
                                    std::int64_t limit) {
  // A turn that had to fetch a line would find it at hand the next time, however often turns have looked alike so far.
  const bool all_at_hand = turn.line_transfers == self.line_transfers();
  const auto quiet_lock = [&self](const PollTurn::Visit& visit) {
    // Who took a lock after its visit, and has left it, has its lines: the next visit would have to fetch them.
    return visit.lock == nullptr || (visit.lock->quiet() && visit.lock->last_taken_by(self) && !visit.lock->visited() &&
                                     visit.lock->can_be_visited());
  };
  if (!all_at_hand || !enabled_ || turn.period == Duration{} || !turn.undisturbed) {
    return {};
  }
  if (!turn.as_long_as(last)) {
    last = turn;
    return {};
  }
  if (limit < 1 || !quiet || !std::all_of(turn.visits.begin(), turn.visits.end(), quiet_lock)) {
    return {};
  }
  steady_ = &last;
  asleep_since_ = engine_.now();
  sleeper_ = &self;
  set_visitor(this);
  deadline_ = TimePoint::never();
  if (limit < (TimePoint::never() - asleep_since_) / steady_->period) {
    deadline_ = asleep_since_ + steady_->period * limit;
    engine_.schedule(alarm_, deadline_);
  }
  self.wait(*this, Category::poll_idle);
  return resumption_;
}

void IdlePoll::set_visitor(LockVisitor* visitor) {
  for (const PollTurn::Visit& visit : steady_->visits) {
    if (visit.lock != nullptr) {
      visit.lock->set_visitor(visitor);
    }
  }
}

void IdlePoll::limit_reached() {
  if (engine_.now() == deadline_) { // else it is the alarm of a rest that was disturbed
    disturb();
  }
}

void IdlePoll::disturb() {
  if (sleeper_ == nullptr) {
    return;
  }
  SimThread& poller = *sleeper_;
  sleeper_ = nullptr;
  deadline_ = TimePoint::never();
  set_visitor(nullptr);

  const Duration asleep = engine_.now() - asleep_since_;
  resumption_ = {asleep / steady_->period, false, 0, false};
  Duration phase = asleep % steady_->period;
  if (phase == Duration{} && resumption_.turns > 0 && ends_with_a_look(*steady_)) {
    --resumption_.turns; // the look sees what comes as it ends, wherever in the turn it is
    phase = steady_->period;
  }
  const TimePoint turn_start = asleep_since_ + steady_->period * resumption_.turns;
  TimePoint wake_time = turn_start;
  if (phase > Duration{}) {
    for (const PollTurn::Visit& visit : steady_->visits) {
      if (visit.lock != nullptr && visit.look_at < phase && phase < visit.done_at) {
        visit.lock->leave_until(turn_start + visit.done_at);
      }
    }
    const auto visit = std::find_if(steady_->visits.begin(), steady_->visits.end(),
                                    [&](const PollTurn::Visit& candidate) { return phase <= candidate.look_at; });
    if (visit == steady_->visits.end()) { // the turn has nothing left to do
      ++resumption_.turns;
      wake_time += steady_->period;
    } else {
      resumption_.inside = true;
      resumption_.visit = static_cast<std::size_t>(visit - steady_->visits.begin());
      resumption_.looking = phase >= visit->try_at;
      wake_time += resumption_.looking ? visit->look_at : visit->try_at;
      if (resumption_.looking && visit->lock != nullptr) {
        visit->lock->grant(poller);
      }
    }
  }
  skipped_ += static_cast<std::uint64_t>(resumption_.turns);
  if (observer_ != nullptr) {
    tell_observer(poller);
    if (resumption_.inside) {
      observer_->interrupted(*steady_, resumption_.visit);
    }
  }
  poller.resume_at(wake_time);
}

void IdlePoll::tell_observer(const SimThread& poller) const {
  for (const PollTurn::Visit& visit : steady_->visits) {
    const Duration since_first = engine_.now() - (asleep_since_ + visit.begin_at);
    if (visit.target >= 0 && since_first >= Duration{}) {
      observer_->skipped_look(poller, visit, engine_.now() - since_first % steady_->period);
    }
  }
}

} // namespace contend
