// How a request becomes complete, and how the application's threads wait for it and give it back.
#pragma once

#include "models/progress/progress_engine.hpp"
#include "models/waiting/notification.hpp"
#include "models/waiting/sync_object.hpp"
#include "mpi/communicators.hpp"
#include "mpi/instances.hpp"
#include "mpi/process_context.hpp"
#include "mpi/progress_turns.hpp"
#include "mpi/request.hpp"
#include "mpi/request_pool.hpp"

namespace contend {

class CompletionPath {
public:
  CompletionPath(ProcessContext& process, const Instances& instances, Communicators& communicators,
                 RequestPool& requests, ProgressTurns& turns, ProgressEngine& progress, Notification& notification)
      : process_(process), instances_(instances), communicators_(communicators), requests_(requests), turns_(turns),
        progress_(progress), notification_(notification) {}

  /// The request's communication is over: whoever waits for it learns of that.
  void complete(SimThread& self, Request& request);
  /// A request that nobody has the handle of yet is complete from its beginning.
  void complete_at_once(SimThread& self, Request& request);

  /// Swaps a sync object into the request, for `price`. Requires: there is none in it; else throws std::logic_error.
  void attach(SimThread& self, SyncObject& sync, Request& request, Duration price) const;
  /// Adds where to look for what completes the request, if that depends on the request.
  void add_targets(SyncObject& sync, const Request& request) const;

  /// Who has the handle of a request: the application, or nobody outside of a blocking call.
  enum class Handle { given, kept };
  /// The application has learnt that the request is complete: it is freed, or, if it is persistent, inactive.
  void release(SimThread& self, Request* request, Handle handle = Handle::given);

  /// Threads that look at requests in a loop of their own (MPI_Request_get_status).
  [[nodiscard]] int looking() const { return looking_; }
  void begin_to_look() { ++looking_; }
  void stop_looking() { --looking_; }

private:
  ProcessContext& process_;
  const Instances& instances_;
  Communicators& communicators_;
  RequestPool& requests_;
  ProgressTurns& turns_;
  ProgressEngine& progress_;
  Notification& notification_;
  int looking_ = 0;
};

} // namespace contend
