// The calls of MPIX_Sync.
#include "mpi/user_sync.hpp"

#include "core/trace_scope.hpp"
#include "mpi/process.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace contend {

UserSync& Process::sync_init(SimThread& self) {
  software(self, settings_.software.wait_call);
  user_syncs_.push_back(
      std::make_unique<UserSync>(engine_, host_, name() + "/user sync " + std::to_string(user_syncs_.size())));
  user_syncs_.back()->object_.notification = notification_.get();
  return *user_syncs_.back();
}

void Process::sync_free(SimThread& self, UserSync& sync) {
  if (sync.attached_ > 0) {
    throw std::logic_error(name() + " frees a sync object with requests attached");
  }
  software(self, settings_.software.wait_call);
  // The object itself stays: its number is part of the names of later ones.
}

void Process::sync_attach(SimThread& self, UserSync& sync, Request& request, std::uint64_t data) {
  const TraceScope scope(self, rank_, "MPIX_Sync_attach");
  if (!request.active) {
    throw std::logic_error(name() + " attaches a request that is not under way");
  }
  enter_call(self);
  update_shared(self, sync.object_.line, Category::line_transfer); // one more to wait for
  self.settle();
  ++sync.attached_;
  request.callback = data;
  if (!request.complete) {
    if (sync.object_.pending == 0 && !sync.waiting_ && sync.polling_ == 0) {
      sync.object_.targets.clear(); // those of requests that are complete
    }
    ++sync.object_.pending;
    attach(self, sync.object_, request, settings_.software.wait_request);
    request.user_sync = &sync;
  } else {
    update_shared(self, sync.list_, Category::line_transfer);
    sync.completed_.push_back(&request);
  }
  self.settle();
  leave_call(self);
}

bool Process::sync_detach(SimThread& self, UserSync& sync, Request& request) {
  const TraceScope scope(self, rank_, "MPIX_Sync_detach");
  enter_call(self);
  self.owe(settings_.waiting.detach, Category::software);
  self.settle();
  if (request.complete || request.user_sync != &sync) {
    leave_call(self);
    return false;
  }
  request.sync = nullptr;
  request.user_sync = nullptr;
  --sync.attached_;
  update_shared(self, sync.object_.line, Category::line_transfer);
  if (--sync.object_.pending == 0) {
    progress_->completed(self, sync.object_);
  }
  leave_call(self);
  return true;
}

/// Takes up to `most` completions off the list.
void Process::take_completions(SimThread& self, UserSync& sync, std::size_t most,
                               std::vector<UserSync::Completion>& out) {
  while (out.size() < most) {
    sync.list_.load(self, Category::line_transfer);
    if (sync.completed_.empty()) {
      return;
    }
    update_shared(self, sync.list_, Category::line_transfer);
    if (sync.completed_.empty()) {
      return; // another thread was faster
    }
    Request* const request = sync.completed_.front();
    sync.completed_.pop_front();
    --sync.attached_;
    if (request->completed_on >= 0 && request->completed_on != self.core()) {
      self.owe(host_.transfer(request->completed_on, self.core()), Category::line_transfer);
    }
    out.push_back({request->callback, request});
    release(self, request);
  }
}

std::optional<UserSync::Completion> Process::sync_query(SimThread& self, UserSync& sync) {
  const std::vector<UserSync::Completion> first = sync_query_bulk(self, sync, 1);
  return first.empty() ? std::nullopt : std::optional(first.front());
}

std::vector<UserSync::Completion> Process::sync_query_bulk(SimThread& self, UserSync& sync, std::size_t most) {
  const TraceScope scope(self, rank_, "MPIX_Sync_query");
  enter_call(self);
  software(self, settings_.waiting.query);
  std::vector<UserSync::Completion> completions;
  take_completions(self, sync, most, completions);
  if (completions.empty()) {
    ++sync.polling_;
    make_progress(self, sync.object_);
    --sync.polling_;
    take_completions(self, sync, most, completions);
  }
  leave_call(self);
  return completions;
}

std::vector<UserSync::Completion> Process::sync_waitall(SimThread& self, UserSync& sync) {
  const TraceScope scope(self, rank_, "MPIX_Sync_waitall");
  if (sync.waiting_) {
    throw std::logic_error(name() + ": two threads wait with one sync object");
  }
  sync.waiting_ = true;
  sync.object_.waiter = self.id();
  enter_call(self);
  software(self, settings_.software.wait_call);
  sync.object_.line.load(self, Category::line_transfer);
  while (sync.object_.pending > 0) {
    leave_call(self);
    progress_->wait(self, sync.object_);
    stop(self);
    enter_call(self);
  }
  std::vector<UserSync::Completion> completions;
  take_completions(self, sync, std::numeric_limits<std::size_t>::max(), completions);
  sync.object_.waiter = -1;
  sync.waiting_ = false;
  leave_call(self);
  return completions;
}

std::size_t Process::sync_size(SimThread& self, UserSync& sync) {
  sync.object_.line.load(self, Category::line_transfer);
  return sync.attached_;
}

std::size_t Process::sync_probe(SimThread& self, UserSync& sync) {
  sync.list_.load(self, Category::line_transfer);
  return sync.completed_.size();
}

} // namespace contend
