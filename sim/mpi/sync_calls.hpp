// The calls of MPIX_Sync.
#pragma once

#include "models/progress/progress_engine.hpp"
#include "models/waiting/notification.hpp"
#include "mpi/completion_calls.hpp"
#include "mpi/completion_path.hpp"
#include "mpi/process_context.hpp"
#include "mpi/progress_turns.hpp"
#include "mpi/user_sync.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace contend {

/// What each call does is said at the calls of Process.
class SyncCalls {
public:
  SyncCalls(ProcessContext& process, ProgressTurns& turns, ProgressEngine& progress, Notification& notification,
            CompletionPath& completion, CompletionCalls& calls)
      : process_(process), turns_(turns), progress_(progress), notification_(notification), completion_(completion),
        calls_(calls) {}

  UserSync& init(SimThread& self);
  void free(SimThread& self, const UserSync& sync);
  void attach(SimThread& self, UserSync& sync, Request& request, std::uint64_t data);
  bool detach(SimThread& self, UserSync& sync, Request& request);
  std::vector<UserSync::Completion> query_bulk(SimThread& self, UserSync& sync, std::size_t most);
  std::vector<UserSync::Completion> waitall(SimThread& self, UserSync& sync);
  static std::size_t size(SimThread& self, UserSync& sync);
  static std::size_t probe(SimThread& self, UserSync& sync);

private:
  void take_completions(SimThread& self, UserSync& sync, std::size_t most, std::vector<UserSync::Completion>& out);

  ProcessContext& process_;
  ProgressTurns& turns_;
  ProgressEngine& progress_;
  Notification& notification_;
  CompletionPath& completion_;
  CompletionCalls& calls_;
  std::vector<std::unique_ptr<UserSync>> syncs_;
};

} // namespace contend
