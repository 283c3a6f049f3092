// Turns of the library's progress loop, and sleeping through turns that find nothing.
#pragma once

#include "core/cache_line.hpp"
#include "models/nic/transport.hpp"
#include "models/progress/command_queue.hpp"
#include "models/progress/progress_engine.hpp"
#include "mpi/command.hpp"
#include "mpi/end_of_turn_work.hpp"
#include "mpi/instances.hpp"
#include "mpi/interface_work.hpp"
#include "mpi/poller.hpp"
#include "mpi/process_context.hpp"

#include <memory>
#include <vector>

namespace contend {

/// Carries out what application threads left to the progress thread.
class CommandHandler {
public:
  virtual ~CommandHandler() = default;
  virtual void carry_out(SimThread& self, const Command& command) = 0;
};

class ProgressTurns final : public ProgressSource, private RestObserver {
public:
  /// `handler` is told what polls find.
  ProgressTurns(ProcessContext& process, Instances& instances, CompletionHandler& handler);

  /// Work for the ends of turns, which is done in the order of these calls.
  void at_end(EndOfTurnWork& work) { works_.push_back(&work); }
  /// Work with every interface that a turn polls.
  void at_interfaces(InterfaceWork& work) { interface_work_ = &work; }
  /// The queue of the progress thread. Only for designs that have one.
  void take_from(CommandQueue<Command>& commands, CommandHandler& handler) {
    commands_ = &commands;
    command_handler_ = &handler;
  }

  void begin_turn(SimThread& self, Noise noise) override;
  int poll(SimThread& self, int target, IfHeld if_held) override;
  int take_commands(SimThread& self) override;
  int end_turn(SimThread& self) override;
  [[nodiscard]] int targets() const override { return instances_.count(); }
  /// With instances assigned to threads, the thread's own: what it waits for may have come in anywhere. Else those that the
  /// requests were mapped to.
  [[nodiscard]] std::span<const int> own_targets(SimThread& self, SyncObject& sync) override;
  int next_target(SimThread& self) override;
  Rest rest(SimThread& self, std::int64_t limit) override;
  void end_rests() override;
  void end_rest_of(const SyncObject& sync) override;
  void stop(SimThread& self) override;

  [[nodiscard]] Poller& poller_of(const SimThread& self) {
    const auto id = static_cast<std::size_t>(self.id());
    if (id < pollers_.size() && pollers_[id]) [[likely]] {
      return *pollers_[id];
    }
    return add_poller(id);
  }
  /// Lets the time of repeated attempts pass that are no turns of progress, but take as little (IdlePoll::rest).
  IdlePoll::Resumption rest_through(SimThread& self, const PollTurn& attempt, PollTurn& last_attempt, bool quiet,
                                    std::int64_t limit) {
    return idle_of(poller_of(self)).rest(self, attempt, last_attempt, quiet, limit);
  }

private:
  [[nodiscard]] RestObserver* observer() {
    return instances_.count() > 1 ? this : nullptr; // who draws from one draws always the same
  }
  void interrupted(const PollTurn& turn, std::size_t visit) override;

  int poll_interface(SimThread& self, int target, IfHeld if_held);
  void poll_other_interface(SimThread& self, int target, IfHeld if_held);
  bool take(SimThread& self, Lock& lock, IfHeld if_held);
  int handle_and_unlock(SimThread& self, Instance& instance);
  [[nodiscard]] bool end_has_work() const;
  [[nodiscard]] bool nothing_in_sight(const PollTurn& turn) const;
  void yield(SimThread& self) const;
  Poller& add_poller(std::size_t thread);
  IdlePoll& idle_of(Poller& poller);
  [[nodiscard]] std::unique_ptr<IdlePoll> make_idle();

  ProcessContext& process_;
  Instances& instances_;
  CompletionHandler& handler_;
  bool handles_unlocked_; ///< what a poll has found
  bool polls_until_empty_;
  bool polls_other_before_; ///< an interface of another device, too
  bool polls_other_after_;
  std::vector<EndOfTurnWork*> works_;
  InterfaceWork* interface_work_ = nullptr;
  CommandQueue<Command>* commands_ = nullptr;
  CommandHandler* command_handler_ = nullptr;
  unsigned next_target_ = 0;
  CacheLine next_target_line_;
  std::vector<std::unique_ptr<Poller>> pollers_; ///< by thread id
  std::vector<std::unique_ptr<IdlePoll>> idles_;
  std::vector<IdlePoll*> free_idles_; ///< not lent to a poller
};

} // namespace contend
