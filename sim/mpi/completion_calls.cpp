#include "mpi/completion_calls.hpp"

#include "core/trace_scope.hpp"

#include <algorithm>

namespace contend {

SyncObject& CompletionCalls::sync_of(SimThread& self) {
  const auto id = static_cast<std::size_t>(self.id());
  if (syncs_.size() <= id) {
    syncs_.resize(id + 1);
  }
  if (!syncs_[id]) {
    syncs_[id] = std::make_unique<SyncObject>(process_.engine(), process_.host(),
                                              process_.name() + "/sync of " + self.name(), self.id());
    syncs_[id]->notification = &notification_;
  }
  return *syncs_[id];
}

void CompletionCalls::waitall(SimThread& self, std::span<Request* const> requests, std::span<Status> statuses,
                              Handle handle) {
  const TraceScope scope(self, process_.rank(), "MPI_Waitall");
  enter(self, requests.size());
  SyncObject& sync = sync_of(self);
  sync.pending = 0;
  sync.targets.clear();
  notification_.begin(self, sync, static_cast<int>(requests.size()));
  for (Request* request : requests) {
    if (counts(request) && !request->complete) {
      completion_.attach(self, sync, *request, process_.settings().software.wait_request);
      ++sync.pending;
    }
  }
  self.settle();
  process_.leave_call(self);
  progress_.wait(self, sync);
  turns_.stop(self);
  process_.enter_call(self);
  for (std::size_t i = 0; i < statuses.size(); ++i) { // a request that is free may be another thread's at once
    const Request* const request = requests[i];
    statuses[i] = counts(request) && request->received_source != any_source
                      ? Status{request->received_source, request->received_tag, request->bytes}
                      : Status{};
  }
  for (Request* request : requests) {
    if (counts(request)) {
      completion_.release(self, request, handle);
    }
  }
  process_.leave_call(self);
}

void CompletionCalls::enter(SimThread& self, std::size_t handles) {
  process_.enter_call(self);
  process_.software(self, process_.settings().software.wait_call);
  check_handles(self, handles);
}

/// A compare-and-swap on the state of a request that the core has; where no other thread can be, a look and a store.
Duration CompletionCalls::swap() const {
  return process_.single() ? process_.settings().waiting.check : process_.host().cache().atomic_hit;
}

/// A single handle is part of the price of the call. Checking it reads the request.
void CompletionCalls::check_handles(SimThread& self, std::size_t handles) {
  if (handles > 1 && process_.settings().waiting.handle > Duration{}) {
    const auto count = static_cast<std::int64_t>(handles);
    QueueWalk walk(process_.host(), process_.settings().waiting.handle, self.core());
    walk.visit(count);
    self.owe(walk.price(count * process_.settings().waiting.request_bytes, process_.settings().waiting.misses_at_once),
             Category::software);
  }
}

/// Reads the state of the requests in order, up to one that is complete, or not, as `until` says; a look at a request
/// that is in the core's cache costs `check`. Returns how many of those that were looked at are complete.
int CompletionCalls::look_at_all(SimThread& self, std::span<Request* const> requests, LookUntil until, Duration check) {
  QueueWalk walk(process_.host(), check, self.core());
  int complete = 0;
  for (const Request* request : requests) {
    walk.visit(1);
    if (!counts(request)) {
      continue;
    }
    if (!request->complete) {
      if (until == LookUntil::incomplete) {
        break;
      }
      continue;
    }
    ++complete;
    if (request->completed_on >= 0 && request->completed_on != self.core()) {
      walk.fetch_from(request->completed_on);
    }
    if (until == LookUntil::complete) {
      break;
    }
  }
  self.owe(walk.price(static_cast<std::int64_t>(requests.size()) * process_.settings().waiting.request_bytes,
                      process_.settings().waiting.misses_at_once),
           Category::software);
  self.settle();
  return complete;
}

/// Returns when at least one request is complete; false: none counts.
bool CompletionCalls::wait_for_one(SimThread& self, std::span<Request* const> requests, bool stop_at_first) {
  if (std::none_of(requests.begin(), requests.end(), counts)) {
    self.owe(process_.settings().waiting.check * static_cast<std::int64_t>(requests.size()), Category::software);
    return false;
  }
  SyncObject& sync = sync_of(self);
  sync.pending = 1;
  sync.targets.clear();
  notification_.begin(self, sync, static_cast<int>(requests.size()));
  const std::string& attaches = design().attach;
  const bool every = attaches == "every";
  const bool swaps = attaches != "none"; // without, the sync object only says what the thread waits for
  const Duration to_attach = every ? swap() : swaps ? process_.settings().software.wait_request : Duration{};
  const Duration to_detach = every ? swap() : swaps ? process_.settings().waiting.detach : Duration{};
  std::vector<Request*> attached;
  attached.reserve(requests.size());
  bool complete = false;
  for (Request* request : requests) {
    if (!counts(request)) {
      continue;
    }
    if (request->complete) {
      complete = true;
      if (every) {
        self.owe(swap(), Category::software); // which fails
      }
      if (stop_at_first) {
        break;
      }
    } else {
      completion_.attach(self, sync, *request, to_attach);
      attached.push_back(request);
    }
  }
  self.settle();
  if (!complete) {
    process_.leave_call(self);
    Poller& poller = turns_.poller_of(self);
    poller.keeps_core = design().yields == "waits-for-all";
    progress_.wait(self, sync);
    poller.keeps_core = false;
    turns_.stop(self);
    process_.enter_call(self);
  }
  int completions = 0;
  for (Request* request : attached) {
    self.owe(to_detach, Category::software);
    completions += request->complete ? 1 : 0;
    request->sync = nullptr;
  }
  self.settle();
  while (sync.pending > 1 - completions) { // they are on their way to the counter
    self.spend_time(process_.settings().locks.pause, Category::poll_idle);
    sync.line.load(self, Category::poll_idle);
  }
  return true;
}

/// Releases up to `most` complete requests, and returns their indices.
std::vector<int> CompletionCalls::take_complete(SimThread& self, std::span<Request*> requests, std::size_t most) {
  std::vector<int> indices;
  for (std::size_t i = 0; i < requests.size() && indices.size() < most; ++i) {
    Request* const request = requests[i];
    if (!counts(request) || !request->complete) {
      continue;
    }
    indices.push_back(static_cast<int>(i));
    requests[i] = request->persistent == Request::Persistent::no ? nullptr : request;
    completion_.release(self, request);
  }
  return indices;
}

/// The calling thread's, with the instances that the requests belong to.
SyncObject& CompletionCalls::sync_for_test(SimThread& self, std::span<Request* const> requests) {
  SyncObject& sync = sync_of(self);
  sync.targets.clear();
  for (const Request* request : requests) {
    if (counts(request)) {
      completion_.add_targets(sync, *request);
    }
  }
  return sync;
}

void CompletionCalls::test_once(SimThread& self, SyncObject& sync) {
  Poller& poller = turns_.poller_of(self);
  poller.testing = true;
  poller.keeps_core = design().yields != "every-call";
  progress_.test(self, sync, turns_);
  poller.testing = false;
  poller.keeps_core = false;
  turns_.stop(self);
}

/// The looks at each that a design has besides those that are for what is complete.
void CompletionCalls::look_before(SimThread& self, std::span<Request* const> requests) {
  for (int look = 0; look < design().looks_before; ++look) {
    look_at_all(self, requests, LookUntil::end);
  }
}

/// Turns of progress before and between looks at the requests, where the design has them: at every n-th. They poll for
/// requests that are not complete, which is nowhere if all are.
void CompletionCalls::make_progress_between(SimThread& self, std::span<Request* const> requests) {
  const int every = design().poll_every;
  const auto pending = [](const Request* request) { return counts(request) && !request->complete; };
  if (every == 0 || std::none_of(requests.begin(), requests.end(), pending)) {
    return;
  }
  SyncObject& sync = sync_for_test(self, requests);
  for (std::size_t turn = 0; turn <= requests.size() / static_cast<std::size_t>(every); ++turn) {
    make_progress(self, sync);
  }
}

void CompletionCalls::make_progress(SimThread& self, SyncObject& sync) {
  self.settle();
  if (progress_.locks_turns()) {
    process_.leave_call(self);
    test_once(self, sync);
    process_.enter_call(self);
    return;
  }
  Poller& poller = turns_.poller_of(self);
  poller.in_section = process_.global_lock() != nullptr;
  test_once(self, sync);
  poller.in_section = false;
}

int CompletionCalls::waitany(SimThread& self, std::span<Request*> requests) {
  const TraceScope scope(self, process_.rank(), "MPI_Waitany");
  enter(self, requests.size());
  std::vector<int> index;
  if (wait_for_one(self, requests, true)) {
    look_at_all(self, requests, LookUntil::complete, look_after_wait());
    index = take_complete(self, requests, 1);
  }
  process_.leave_call(self);
  return index.empty() ? -1 : index.front();
}

std::vector<int> CompletionCalls::waitsome(SimThread& self, std::span<Request*> requests) {
  const TraceScope scope(self, process_.rank(), "MPI_Waitsome");
  enter(self, requests.size());
  look_before(self, requests);
  make_progress_between(self, requests);
  std::vector<int> indices;
  if (wait_for_one(self, requests, false)) {
    look_at_all(self, requests, LookUntil::end, look_after_wait());
    indices = take_complete(self, requests, requests.size());
  }
  process_.leave_call(self);
  return indices;
}

bool CompletionCalls::test(SimThread& self, Request** request) {
  const TraceScope scope(self, process_.rank(), "MPI_Test");
  const std::span<Request*> one(request, 1);
  if (!counts(*request)) {
    return true;
  }
  enter(self, 1);
  bool complete = look_at_all(self, one, LookUntil::complete) == 1;
  if (!complete) {
    make_progress(self, sync_for_test(self, one));
    complete = look_at_all(self, one, LookUntil::complete) == 1;
  }
  if (complete) {
    take_complete(self, one, 1);
  }
  process_.leave_call(self);
  return complete;
}

int CompletionCalls::testany(SimThread& self, std::span<Request*> requests) {
  const TraceScope scope(self, process_.rank(), "MPI_Testany");
  enter(self, requests.size());
  const auto finds_one = [&] { return look_at_all(self, requests, LookUntil::complete) > 0; };
  // The first look finds what is complete, too.
  bool found = finds_one();
  for (int look = 0; look < design().looks_before && !found; ++look) {
    found = finds_one();
  }
  if (!found) {
    make_progress(self, sync_for_test(self, requests));
    found = design().looks_again && finds_one();
  }
  const std::vector<int> index = found ? take_complete(self, requests, 1) : std::vector<int>();
  process_.leave_call(self);
  return index.empty() ? -1 : index.front();
}

std::vector<int> CompletionCalls::testsome(SimThread& self, std::span<Request*> requests) {
  const TraceScope scope(self, process_.rank(), "MPI_Testsome");
  enter(self, requests.size());
  look_before(self, requests);
  bool found = look_at_all(self, requests, LookUntil::end) > 0;
  if (!found) {
    make_progress(self, sync_for_test(self, requests));
    found = design().looks_again && look_at_all(self, requests, LookUntil::end) > 0;
  }
  std::vector<int> indices = found ? take_complete(self, requests, requests.size()) : std::vector<int>();
  process_.leave_call(self);
  return indices;
}

/// Whether all of them are complete, with a turn of progress if not: what MPI_Testall does with a batch.
bool CompletionCalls::are_complete(SimThread& self, std::span<Request* const> requests) {
  const auto active = std::count_if(requests.begin(), requests.end(), counts);
  const auto finds_all = [&] {
    return look_at_all(self, requests, design().stops_at_incomplete ? LookUntil::incomplete : LookUntil::end) == active;
  };
  look_before(self, requests);
  bool all = finds_all();
  if (!all) {
    make_progress(self, sync_for_test(self, requests));
    all = design().looks_again && finds_all();
  }
  if (design().looks_before > 0) {
    look_at_all(self, requests, LookUntil::end);
  }
  return all;
}

bool CompletionCalls::testall(SimThread& self, std::span<Request*> requests) {
  const TraceScope scope(self, process_.rank(), "MPI_Testall");
  enter(self, requests.size());
  const auto batch = static_cast<std::size_t>(design().batch);
  bool all = true;
  std::size_t begin = 0;
  do {
    const std::size_t count = batch == 0 ? requests.size() : std::min(batch, requests.size() - begin);
    all = are_complete(self, requests.subspan(begin, count)) && all;
    begin += count;
  } while (begin < requests.size());
  if (all) {
    take_complete(self, requests, requests.size());
  }
  process_.leave_call(self);
  return all;
}

bool CompletionCalls::get_status(SimThread& self, Request* request) {
  const TraceScope scope(self, process_.rank(), "MPI_Request_get_status");
  enter(self, 1);
  self.settle();
  if (request != nullptr && !request->complete) {
    make_progress(self, sync_for_test(self, {&request, 1}));
    self.settle();
  }
  const bool complete = request == nullptr || request->complete;
  process_.leave_call(self);
  return complete;
}

void CompletionCalls::poll_until(SimThread& self, const std::function<bool()>& done) {
  const TraceScope scope(self, process_.rank(), "MPI_Test");
  completion_.begin_to_look();
  if (completion_.looking() == 2) {
    turns_.end_rests(); // the thread that was alone has company
  }
  process_.software(self, process_.settings().software.wait_call);
  Poller& poller = turns_.poller_of(self);
  poller.testing = true;
  bool idle = false;
  for (self.settle(); !done(); self.settle()) {
    const bool alone = completion_.looking() == 1;
    if (idle && alone && turns_.rest(self, ProgressSource::no_limit).look_again()) {
      idle = false;
      continue;
    }
    idle = turns_.progress(self, alone ? ProgressSource::Noise::never : ProgressSource::Noise::always) == 0;
  }
  poller.testing = false;
  turns_.stop(self);
  completion_.stop_looking();
}

} // namespace contend
