// Messages that a handler takes: those of a library below MPI, which only count, and those of one-sided operations.
#pragma once

#include "core/cache_line.hpp"
#include "core/ring_queue.hpp"
#include "models/matching/active_message.hpp"
#include "models/nic/transport.hpp"
#include "mpi/end_of_turn_work.hpp"
#include "mpi/instances.hpp"
#include "mpi/process_context.hpp"
#include "mpi/progress_turns.hpp"

#include <cstdint>
#include <vector>

namespace contend {

/// Answers that find no room go at the ends of turns of progress.
class ActiveMessages final : public EndOfTurnWork {
public:
  ActiveMessages(ProcessContext& process, Instances& instances, ProgressTurns& turns, CompletionHandler& handler);

  // Of a library below MPI.
  /// Sends a message that is counted at its destination.
  void send_counted(SimThread& self, int destination, std::int64_t bytes);
  /// Returns when `messages` of them have come from there in all.
  void wait_counted(SimThread& self, int source, std::int64_t messages);

  // Of one-sided operations. The instance with the same number gets them at the destination.
  /// Makes progress until there is room. The caller is inside a call.
  void send(SimThread& self, int instance, int destination, std::int64_t bytes, ActiveMessage& message);
  /// From a handler, which must not wait.
  void answer(SimThread& self, int instance, int destination, std::int64_t bytes, ActiveMessage& message);

  /// One has arrived.
  void take(SimThread& self, const Envelope& envelope);

  [[nodiscard]] bool may_go() const override { return !answers_.empty() && first_answer_may_go(); }
  int run(SimThread& self) override;

private:
  struct WaitingAnswer {
    int instance = 0;
    int destination = 0;
    Envelope envelope;
  };

  Envelope envelope_of(SimThread& self, std::int64_t bytes, ActiveMessage& message) const;
  bool post(SimThread& self, const Instance& instance, int destination, const Envelope& envelope) const;
  [[nodiscard]] bool first_answer_may_go() const;
  void advance(SimThread& self, const Instance& instance);
  void advance_others(SimThread& self, const Instance& instance);

  ProcessContext& process_;
  Instances& instances_;
  ProgressTurns& turns_;
  CompletionHandler& handler_;
  std::vector<std::int64_t> counted_; ///< by source: messages that came
  RingQueue<WaitingAnswer> answers_;  ///< that found no room; no lock, as in a lock-free queue
  CacheLine answers_line_;
};

} // namespace contend
