// MPI_Waitall, MPI_Waitany, MPI_Waitsome, the test calls and MPI_Request_get_status. A sync object is attached to each request
// and, where a call waits for some of them, detached again (Open MPI's ompi_request_default_wait_any and _wait_some):
//
//   waitall(requests):
//     sync.count = number of requests
//     for each request: if complete, or not compare-and-swap(request.state, pending, sync): sync.count -= 1
//     wait(sync)
//
//   waitsome(requests):
//     sync.count = 1
//     for each request: compare-and-swap(request.state, pending, sync), or it is complete
//     if none is: wait(sync)
//     for each request: compare-and-swap(request.state, sync, pending), or it is complete now
//     spin until all of these have updated the counter: the sync object is used again
//
//   testsome(requests): look at each; if none is complete: one turn of progress
//
// A call over several requests has checked all of their handles before. How often it looks at them, and whether waits
// attach anything at all, is the design's (WaitingDesign).
#pragma once

#include "models/progress/progress_engine.hpp"
#include "models/waiting/notification.hpp"
#include "models/waiting/sync_object.hpp"
#include "mpi/completion_path.hpp"
#include "mpi/process_context.hpp"
#include "mpi/progress_turns.hpp"
#include "mpi/request.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace contend {

/// What each call does to its requests is said at the calls of Process.
class CompletionCalls {
public:
  CompletionCalls(ProcessContext& process, ProgressTurns& turns, ProgressEngine& progress, Notification& notification,
                  CompletionPath& completion)
      : process_(process), turns_(turns), progress_(progress), notification_(notification), completion_(completion) {}

  using Handle = CompletionPath::Handle;
  void waitall(SimThread& self, std::span<Request* const> requests, std::span<Status> statuses, Handle handle);
  int waitany(SimThread& self, std::span<Request*> requests);
  std::vector<int> waitsome(SimThread& self, std::span<Request*> requests);
  bool test(SimThread& self, Request** request);
  int testany(SimThread& self, std::span<Request*> requests);
  std::vector<int> testsome(SimThread& self, std::span<Request*> requests);
  bool testall(SimThread& self, std::span<Request*> requests);
  bool get_status(SimThread& self, Request* request);
  void poll_until(SimThread& self, const std::function<bool()>& done);

  /// One turn, by a thread that is in a call and does not wait. A global critical section covers all of that call, the turn as
  /// well (MPIR_Test of MPICH), unless turns have a lock of their own, whose holder asks for the section.
  void make_progress(SimThread& self, SyncObject& sync);

private:
  [[nodiscard]] static bool counts(const Request* request) { return request != nullptr && request->active; }
  enum class LookUntil { end, complete, incomplete };

  [[nodiscard]] const WaitingDesign& design() const { return process_.library().waiting; }
  [[nodiscard]] Duration swap() const;
  void enter(SimThread& self, std::size_t handles);
  SyncObject& sync_of(SimThread& self);
  SyncObject& sync_for_test(SimThread& self, std::span<Request* const> requests);
  void check_handles(SimThread& self, std::size_t handles);
  int look_at_all(SimThread& self, std::span<Request* const> requests, LookUntil until) {
    return look_at_all(self, requests, until, process_.settings().waiting.check);
  }
  int look_at_all(SimThread& self, std::span<Request* const> requests, LookUntil until, Duration check);
  /// Price of the look at each request after a wait: where all were swapped the swaps have told.
  [[nodiscard]] Duration look_after_wait() const {
    return design().attach == "every" ? Duration{} : process_.settings().waiting.check;
  }
  void look_before(SimThread& self, std::span<Request* const> requests);
  bool are_complete(SimThread& self, std::span<Request* const> requests);
  bool wait_for_one(SimThread& self, std::span<Request* const> requests, bool stop_at_first);
  std::vector<int> take_complete(SimThread& self, std::span<Request*> requests, std::size_t most);
  void make_progress_between(SimThread& self, std::span<Request* const> requests);
  void test_once(SimThread& self, SyncObject& sync);

  ProcessContext& process_;
  ProgressTurns& turns_;
  ProgressEngine& progress_;
  Notification& notification_;
  CompletionPath& completion_;
  std::vector<std::unique_ptr<SyncObject>> syncs_; ///< by thread id
};

} // namespace contend
