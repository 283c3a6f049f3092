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
    // Where locks share lines, holders of others take them away meanwhile.
    return visit.lock == nullptr ||
           (!visit.lock->shares_lines() && visit.lock->quiet() && visit.lock->last_taken_by(self) &&
            !visit.lock->visited() && visit.lock->can_be_visited());
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
  self.repeat(*this, Category::poll_idle, *this);
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
  const RepeatedPlace place = come_back(false);
  if (poller.shares_core()) {
    poller.come_back(place);
  } else {
    poller.resume_at(engine_.now() + (place.goal - place.at));
  }
}

/// Restores the state of the turn that the poller is in, and ends its rest. `cut`: by the operating system.
RepeatedPlace IdlePoll::come_back(bool cut) {
  SimThread& poller = *std::exchange(sleeper_, nullptr);
  deadline_ = TimePoint::never();
  set_visitor(nullptr);

  const Duration asleep = engine_.now() - asleep_since_;
  resumption_ = {};
  resumption_.turns = asleep / steady_->period;
  RepeatedPlace place{asleep % steady_->period, {}, {}, &steady_->uninterrupted};
  if (place.at == Duration{} && resumption_.turns > 0 && ends_with_a_look(*steady_)) {
    --resumption_.turns; // the look sees what comes as it ends, wherever in the turn it is
    place.at = steady_->period;
  }
  place.goal = place.at;
  if (place.at > Duration{}) {
    if (cut) {
      stop_in_turn(poller, place);
    } else {
      enter_turn(poller, place);
    }
  }
  skipped_ += static_cast<std::uint64_t>(resumption_.turns);
  if (observer_ != nullptr && resumption_.inside) {
    observer_->interrupted(*steady_, resumption_.visit);
  }
  return place;
}

void IdlePoll::go_on_at(SimThread& poller, const PollTurn::Visit& visit, bool looking) {
  resumption_.inside = true;
  resumption_.visit = static_cast<std::size_t>(&visit - steady_->visits.data());
  resumption_.looking = looking;
  if (looking && visit.lock != nullptr) {
    visit.lock->grant(poller);
  }
}

/// Somebody comes to what is polled: the turn is simulated from its next step on.
void IdlePoll::enter_turn(SimThread& poller, RepeatedPlace& place) {
  const std::vector<PollTurn::Visit>& visits = steady_->visits;
  const Duration phase = place.at;
  for (const PollTurn::Visit& visit : visits) {
    if (visit.lock != nullptr && visit.look_at < phase && phase < visit.done_at) {
      visit.lock->leave_until(engine_.now() + (visit.done_at - phase));
    }
  }
  const auto visit =
      std::find_if(visits.begin(), visits.end(), [&](const auto& candidate) { return phase <= candidate.look_at; });
  if (visit == visits.end()) { // the turn has nothing left to do
    ++resumption_.turns;
    place.goal = steady_->period;
    return;
  }
  const bool looking = phase >= visit->try_at;
  go_on_at(poller, *visit, looking);
  place.goal = looking ? visit->look_at : visit->try_at;
}

/// The core may be lost in the middle of a step. One that takes a lock or gives it back is run when its time has passed.
void IdlePoll::stop_in_turn(SimThread& poller, RepeatedPlace& place) {
  const Duration phase = place.at;
  for (const PollTurn::Visit& visit : steady_->visits) {
    if (visit.lock != nullptr && !visit.kept && visit.try_at <= phase && phase < visit.begin_at) {
      go_on_at(poller, visit, false);
      place.goal = visit.begin_at;
      place.passed = visit.begin_at - visit.try_at;
      return;
    }
    if (visit.lock != nullptr && visit.look_at < phase && phase < visit.done_at) {
      go_on_at(poller, visit, true);
      resumption_.leaving = true;
      place.goal = visit.done_at;
      place.passed = visit.done_at - visit.look_at;
      return;
    }
  }
  enter_turn(poller, place);
}

} // namespace contend
