#include "mpi/completion_path.hpp"

#include "mpi/user_sync.hpp"

#include <algorithm>
#include <stdexcept>

namespace contend {

void CompletionPath::complete(SimThread& self, Request& request) {
  self.owe(process_.settings().software.complete, Category::completion);
  requests_.fetch(self, request, process_.library().lines.completion, Category::completion);
  if (request.sync == nullptr) {
    self.settle(); // somebody may begin to wait meanwhile
  }
  // One swap: who takes the sync object away from now on finds that the request is complete, and waits for the update.
  SyncObject* const sync = request.sync;
  request.complete = true;
  request.completed_on = self.core();
  request.held_by = self.core();
  process_.engine().note_operation();
  if (sync == nullptr) {
    if (looking_ > 0) {
      turns_.end_rests(); // a thread may be looking at it
    }
    progress_.completed_unwatched(self);
    return;
  }
  if (UserSync* const user = request.user_sync; user != nullptr) {
    process_.update_shared(self, user->list(), Category::completion);
    user->append(request);
  }
  notification_.publish(self, *sync);
  if (--sync->pending == 0) {
    progress_.completed(self, *sync);
  } else {
    progress_.advanced(self, *sync);
  }
}

void CompletionPath::complete_at_once(SimThread& self, Request& request) {
  request.complete = true;
  process_.engine().note_operation();
  progress_.completed_unwatched(self);
}

void CompletionPath::attach(SimThread& self, SyncObject& sync, Request& request, Duration price) const {
  if (request.sync != nullptr) {
    throw std::logic_error(process_.name() + ": a request is waited for by two");
  }
  self.owe(price, Category::software); // by compare-and-swap
  request.sync = &sync;
  add_targets(sync, request);
}

void CompletionPath::add_targets(SyncObject& sync, const Request& request) const {
  if (!instances_.mapping().decides()) {
    return;
  }
  // Whoever waits may be going through them: they must stay where they are.
  sync.targets.reserve(static_cast<std::size_t>(instances_.count()));
  const bool anywhere = request.instance == InstanceMapping::every_instance;
  for (int target = anywhere ? 0 : request.instance; target < instances_.count(); ++target) {
    if (std::find(sync.targets.begin(), sync.targets.end(), target) == sync.targets.end()) {
      sync.targets.push_back(target);
    }
    if (!anywhere) {
      return;
    }
  }
}

void CompletionPath::release(SimThread& self, Request* request, Handle handle) {
  self.owe(process_.settings().software.wait_request, Category::software);
  requests_.fetch(self, *request, process_.library().lines.status, Category::line_transfer);
  if (request->persistent != Request::Persistent::no) {
    communicators_.count_reference(self, request->communicator);
    request->active = false;
    request->sync = nullptr;
    request->user_sync = nullptr;
    return;
  }
  Lock* const guard = handle == Handle::given ? progress_.request_lock() : nullptr;
  if (guard != nullptr) {
    guard->lock(self);
  }
  communicators_.count_reference(self, request->communicator);
  requests_.free(self, request);
  if (guard != nullptr) {
    guard->unlock(self);
  }
}

} // namespace contend
