#include "mpi/sync_calls.hpp"

#include "core/trace_scope.hpp"

#include <limits>
#include <stdexcept>
#include <string>

namespace contend {

UserSync& SyncCalls::init(SimThread& self) {
  process_.software(self, process_.settings().software.wait_call);
  syncs_.push_back(std::make_unique<UserSync>(process_.engine(), process_.host(),
                                              process_.name() + "/user sync " + std::to_string(syncs_.size())));
  syncs_.back()->object_.notification = &notification_;
  return *syncs_.back();
}

void SyncCalls::free(SimThread& self, const UserSync& sync) {
  if (sync.attached_ > 0) {
    throw std::logic_error(process_.name() + " frees a sync object with requests attached");
  }
  process_.software(self, process_.settings().software.wait_call);
  // The object itself stays: its number is part of the names of later ones.
}

void SyncCalls::attach(SimThread& self, UserSync& sync, Request& request, std::uint64_t data) {
  const TraceScope scope(self, process_.rank(), "MPIX_Sync_attach");
  if (!request.active) {
    throw std::logic_error(process_.name() + " attaches a request that is not under way");
  }
  process_.enter_call(self);
  process_.update_shared(self, sync.object_.line, Category::line_transfer); // one more to wait for
  self.settle();
  ++sync.attached_;
  request.callback = data;
  if (!request.complete) {
    if (sync.object_.pending == 0 && !sync.waiting_ && sync.polling_ == 0) {
      sync.object_.targets.clear(); // those of requests that are complete
    }
    ++sync.object_.pending;
    completion_.attach(self, sync.object_, request, process_.settings().software.wait_request);
    request.user_sync = &sync;
  } else {
    process_.update_shared(self, sync.list(), Category::line_transfer);
    sync.append(request);
  }
  self.settle();
  process_.leave_call(self);
}

bool SyncCalls::detach(SimThread& self, UserSync& sync, Request& request) {
  const TraceScope scope(self, process_.rank(), "MPIX_Sync_detach");
  process_.enter_call(self);
  self.owe(process_.settings().waiting.detach, Category::software);
  self.settle();
  if (request.complete || request.user_sync != &sync) {
    process_.leave_call(self);
    return false;
  }
  request.sync = nullptr;
  request.user_sync = nullptr;
  --sync.attached_;
  process_.update_shared(self, sync.object_.line, Category::line_transfer);
  if (--sync.object_.pending == 0) {
    progress_.completed(self, sync.object_);
  }
  process_.leave_call(self);
  return true;
}

/// Takes up to `most` completions off the list.
void SyncCalls::take_completions(SimThread& self, UserSync& sync, std::size_t most,
                                 std::vector<UserSync::Completion>& out) {
  while (out.size() < most) {
    sync.list().load(self, Category::line_transfer);
    if (sync.completed_.empty()) {
      return;
    }
    process_.update_shared(self, sync.list(), Category::line_transfer);
    if (sync.completed_.empty()) {
      return; // another thread was faster
    }
    Request* const request = sync.completed_.front();
    sync.completed_.pop_front();
    --sync.attached_;
    if (request->completed_on >= 0 && request->completed_on != self.core()) {
      self.owe_time(process_.host().transfer(request->completed_on, self.core()), Category::line_transfer);
    }
    out.push_back({request->callback, request});
    completion_.release(self, request);
  }
}

std::vector<UserSync::Completion> SyncCalls::query_bulk(SimThread& self, UserSync& sync, std::size_t most) {
  const TraceScope scope(self, process_.rank(), "MPIX_Sync_query");
  process_.enter_call(self);
  process_.software(self, process_.settings().waiting.query);
  std::vector<UserSync::Completion> completions;
  take_completions(self, sync, most, completions);
  if (completions.empty()) {
    ++sync.polling_;
    calls_.make_progress(self, sync.object_);
    --sync.polling_;
    take_completions(self, sync, most, completions);
  }
  process_.leave_call(self);
  return completions;
}

std::vector<UserSync::Completion> SyncCalls::waitall(SimThread& self, UserSync& sync) {
  const TraceScope scope(self, process_.rank(), "MPIX_Sync_waitall");
  if (sync.waiting_) {
    throw std::logic_error(process_.name() + ": two threads wait with one sync object");
  }
  sync.waiting_ = true;
  sync.object_.waiter = self.id();
  process_.enter_call(self);
  process_.software(self, process_.settings().software.wait_call);
  sync.object_.line.load(self, Category::line_transfer);
  while (sync.object_.pending > 0) {
    process_.leave_call(self);
    progress_.wait(self, sync.object_);
    turns_.stop(self);
    process_.enter_call(self);
  }
  std::vector<UserSync::Completion> completions;
  take_completions(self, sync, std::numeric_limits<std::size_t>::max(), completions);
  sync.object_.waiter = -1;
  sync.waiting_ = false;
  process_.leave_call(self);
  return completions;
}

std::size_t SyncCalls::size(SimThread& self, UserSync& sync) {
  sync.object_.line.load(self, Category::line_transfer);
  return sync.attached_;
}

std::size_t SyncCalls::probe(SimThread& self, UserSync& sync) {
  sync.list().load(self, Category::line_transfer);
  return sync.completed_.size();
}

} // namespace contend
