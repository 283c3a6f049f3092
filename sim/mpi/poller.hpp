// What a process keeps for one thread that makes progress.
#pragma once

#include "models/progress/idle_poll.hpp"

#include <cstddef>

namespace contend {

/// A thread's current or last turn of progress. Turns that find nothing can be skipped (IdlePoll); a turn that must go on
/// in its middle is run again from its start, but what the skipped part has done already costs nothing the second time.
struct Poller {
  PollTurn turn;
  PollTurn last_turn; ///< that could have been followed by equal ones
  TimePoint turn_start;
  Duration lock_at{}; ///< when, from its start, the turn asked for the lock that covers all of it, if there is one
  IdlePoll* idle = nullptr; ///< lent to the thread until its wait is over

  /// The turn has found something, or somebody in its way.
  void disturb_if(bool happened) { turn.undisturbed = turn.undisturbed && !happened; }

  bool resuming = false; ///< the turn goes on at visit `resumption.visit`
  IdlePoll::Resumption resumption;
  std::size_t polls = 0;   ///< of this turn
  bool drew = false;       ///< the target of the next poll, see ProgressTurns::next_target
  int found = 0;           ///< in this turn so far
  bool testing = false;    ///< the thread is in a call that returns whether its requests are complete or not
  bool keeps_core = false; ///< the call yields in no turn
  bool in_section = false; ///< that call has the lock that covers all of the turn, and keeps it

  /// What comes before the next poll has passed already.
  [[nodiscard]] bool passing() const { return resuming && polls <= resumption.visit; }
  /// Counts a poll. True when it belongs to the part of the turn that has passed already.
  bool passed() { return polls++ < (resuming ? resumption.visit : 0); }
  /// The poll that was just counted goes on with its look: its lock is held.
  bool take_looking() {
    const bool looking = resuming && resumption.looking;
    resuming = false;
    return looking;
  }
};

} // namespace contend
