// The payload of a message above the eager limit, from the matched envelope to two complete requests.
//
//   get:  sender  --rendezvous-->   receiver matches, reads the payload   --finish-->  sender
//   put:  sender  --rendezvous-->   receiver matches  --acknowledge-->    sender writes the payload  --finish-->  receiver
//   send: sender  --rendezvous-->   receiver matches  --acknowledge-->    sender copies pieces  --fragments-->    receiver
#pragma once

#include "core/cache_line.hpp"
#include "core/ring_queue.hpp"
#include "mpi/completion_path.hpp"
#include "mpi/connection_queues.hpp"
#include "mpi/end_of_turn_work.hpp"
#include "mpi/instances.hpp"
#include "mpi/process_context.hpp"
#include "mpi/progress_turns.hpp"
#include "mpi/rendezvous.hpp"
#include "mpi/rendezvous_steps.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace contend {

/// Steps that find no room are tried again at the ends of turns of progress.
class RendezvousPath final : public EndOfTurnWork, private StepListener {
public:
  RendezvousPath(ProcessContext& process, Instances& instances, ProgressTurns& turns, CompletionPath& completion,
                 const RendezvousSteps& steps, ConnectionQueues& queues);

  /// The sender's side: what the envelope of its message leads to.
  Rendezvous* announce(SimThread& self, Request& send, int destination);
  /// The receive of an announced message is known. The caller may hold the lock of an instance, but not a matching lock.
  void begin(SimThread& self, Request& receive, const Envelope& envelope);
  /// A message about a rendezvous has arrived.
  void go_on(SimThread& self, const Envelope& envelope);
  /// The interface has done what this side asked for.
  void transferred(SimThread& self, const Envelope& envelope);

  /// Whether a turn of progress has steps to take. ob1 tries its pending lists when completions come
  /// (MCA_PML_OB1_PROGRESS_PENDING); a look that costs nothing finds the room that these make.
  [[nodiscard]] bool may_go() const override;
  int run(SimThread& self) override;

private:
  Rendezvous* allocate();
  void register_buffer(SimThread& self, const Request& request);
  [[nodiscard]] int number_of_instance(const Rendezvous& rendezvous) const;
  [[nodiscard]] Instance& instance_for_reply(SimThread& self, const Rendezvous& rendezvous);
  [[nodiscard]] bool waits_in_turn(const Instance& instance, const RendezvousStep& step) const;
  void take(SimThread& self, const RendezvousStep& step);
  void after_step(SimThread& self, const Instance& instance, const RendezvousStep& step) override;
  bool send_pieces(SimThread& self, const Instance& instance, Rendezvous& rendezvous);
  void wait_for_room(SimThread& self, const RendezvousStep& step);
  [[nodiscard]] bool first_may_go(int instance, const RingQueue<RendezvousStep>& waiting) const;
  int retry(SimThread& self, int instance, RingQueue<RendezvousStep>& waiting);
  void finish(SimThread& self, Rendezvous& rendezvous);
  void finish_send(SimThread& self, Rendezvous& rendezvous);
  void finish_receive(SimThread& self, Rendezvous& rendezvous);

  ProcessContext& process_;
  Instances& instances_;
  ProgressTurns& turns_;
  CompletionPath& completion_;
  const RendezvousSteps& steps_;
  ConnectionQueues& queues_;
  /// Steps that found no room, by RendezvousStep::Kind, in whose order ob1 tries its lists again; no lock, as in a
  /// lock-free queue.
  std::array<WaitingSteps, 3> waiting_;
  std::size_t waiting_count_ = 0; ///< in all of them
  CacheLine waiting_line_;
  std::deque<Rendezvous> all_;
  RingQueue<Rendezvous*> open_; ///< oldest first
  std::vector<Rendezvous*> free_;
  std::vector<std::int64_t> registered_bytes_; ///< of each thread's buffer, by thread id
};

} // namespace contend
