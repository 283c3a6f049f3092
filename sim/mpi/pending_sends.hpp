// Sends that found no room, and how each design tries them again (library.protocol.pending_order).
#pragma once

#include "models/locks/lock.hpp"
#include "mpi/completion_path.hpp"
#include "mpi/connection_queues.hpp"
#include "mpi/delayed_sends.hpp"
#include "mpi/end_of_turn_work.hpp"
#include "mpi/instances.hpp"
#include "mpi/process_context.hpp"
#include "mpi/progress_turns.hpp"

#include <cstddef>
#include <memory>

namespace contend {

class PendingSends final : public EndOfTurnWork {
public:
  PendingSends(ProcessContext& process, Instances& instances, ProgressTurns& turns, CompletionPath& completion,
               ConnectionQueues& queues, CompletionHandler& handler);

  /// Whether a message must not pass those that have no room.
  [[nodiscard]] bool behind_others(int instance, int destination) const;
  /// Takes on a message whose first attempt has failed, or must not be made. It is out on return where the design tries until
  /// there is room.
  void add(SimThread& self, const DelayedSend& send);

  [[nodiscard]] bool may_go() const override { return !delayed_.empty() || queues_.may_go(); }
  /// Tries every delayed send once. What fails goes back to the list, by the design's rule. Returns how many went out.
  int run(SimThread& self) override;

private:
  /// What a failed attempt to send did and cost.
  struct Attempt {
    PollTurn turn;
    PollTurn last_turn; ///< that could have been followed by equal ones
    // The thread's account when it began, had the lock and looked: most attempts are not repeated, and need no
    // differences.
    SimThread::Times at_start{};
    SimThread::Times at_lock{};
    SimThread::Times at_look{};
    /// The instance's lock is held: the next attempt begins with its post.
    bool locked = false;
    // Places in `turn`: once the lock is held the post begins, which sees what there is a moment later where its look for
    // room takes time, and is followed by a look at the instance.
    static constexpr std::size_t at_post = 0;
    static constexpr std::size_t at_room = 1;
    static constexpr std::size_t at_poll = 2;
    /// What had been charged to a category when the attempt came to one of these places.
    [[nodiscard]] Duration until(std::size_t place, Category category) const;
  };

  void send_in_call(SimThread& self, const DelayedSend& send);
  bool try_send(SimThread& self, const DelayedSend& send, Attempt* attempt);
  [[nodiscard]] bool finds_room(std::size_t begin, std::size_t end) const;
  std::size_t skip_failing_attempts(SimThread& self, std::size_t begin, std::size_t end, int& handled);
  void show() const;

  ProcessContext& process_;
  Instances& instances_;
  ProgressTurns& turns_;
  CompletionPath& completion_;
  ConnectionQueues& queues_;
  CompletionHandler& handler_;
  bool at_connection_; ///< is where they wait
  bool in_call_;       ///< they are tried until there is room
  DelayedSends delayed_;
  std::unique_ptr<Lock> lock_;
  Attempt attempt_; ///< the last attempt to send a delayed message; belongs to the holder of lock_
  TraceLabel label_;
};

} // namespace contend
