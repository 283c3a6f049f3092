// From MPI_Irecv and an arriving message to a complete request.
#pragma once

#include "models/matching/envelope.hpp"
#include "models/matching/matcher.hpp"
#include "models/waiting/task_pool.hpp"
#include "mpi/active_messages.hpp"
#include "mpi/communicators.hpp"
#include "mpi/completion_path.hpp"
#include "mpi/instances.hpp"
#include "mpi/process_context.hpp"
#include "mpi/progress_turns.hpp"
#include "mpi/rendezvous_path.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace contend {

class ReceivePath {
public:
  /// `tasks`: where matching is left to, if the design says so; nullptr: the library has none.
  ReceivePath(ProcessContext& process, Instances& instances, Communicators& communicators, ProgressTurns& turns,
              CompletionPath& completion, RendezvousPath& rendezvous, ActiveMessages& active, TaskPool* tasks);
  ~ReceivePath();
  ReceivePath(const ReceivePath&) = delete;
  ReceivePath& operator=(const ReceivePath&) = delete;

  /// Posts a receive. The caller is inside a call. `source` and `tag` may be any_source and any_tag. `has_lock`: the caller holds
  /// the locks of the instances that the receive concerns, which this gives back.
  void start(SimThread& self, Request& request, int communicator, int source, int tag, std::int64_t bytes,
             bool has_lock = false);
  /// Delivery of one arrived message; unless the design handles without it, the polling thread holds the lock of the instance it
  /// came from.
  void receive(SimThread& self, const Envelope& envelope);
  /// The interface has a message, before any thread sees it.
  HardwareMatcher::Time arrived(Envelope& envelope);

private:
  class MatchTask;

  void receive_now(SimThread& self, const Envelope& envelope);
  void receive_later(SimThread& self, const Envelope& envelope);
  void match(SimThread& self, Communicator& communicator, const Envelope& envelope);
  void take_message(SimThread& self, Request& request, const Envelope& envelope);
  void keep_payload(SimThread& self, const Envelope& envelope);
  void keep_for_later(SimThread& self, PeerState& peer, const Envelope& envelope);

  ProcessContext& process_;
  Instances& instances_;
  Communicators& communicators_;
  ProgressTurns& turns_;
  CompletionPath& completion_;
  RendezvousPath& rendezvous_;
  ActiveMessages& active_;
  TaskPool* tasks_;
  bool calls_hold_instance_; ///< LibraryDesign::critical_section
  std::vector<std::unique_ptr<MatchTask>> match_tasks_;
  std::vector<MatchTask*> free_match_tasks_;
  TraceLabel out_of_sequence_label_;
};

} // namespace contend
