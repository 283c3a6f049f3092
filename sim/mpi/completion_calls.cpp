// MPI_Waitany, MPI_Waitsome and the test calls. A sync object is attached to each request and detached again in every call
// that has to wait (Open MPI's ompi_request_default_wait_any and _wait_some):
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
#include "core/trace_scope.hpp"
#include "mpi/process.hpp"

#include <algorithm>
#include <stdexcept>

namespace contend {

/// A single handle is part of the price of the call. Checking it reads the request.
void Process::check_handles(SimThread& self, std::size_t handles) {
  if (handles > 1 && settings_.waiting.handle > Duration{}) {
    const auto count = static_cast<std::int64_t>(handles);
    QueueWalk walk(host_, settings_.waiting.handle, self.core());
    walk.visit(count);
    self.owe(walk.price(count * settings_.waiting.request_bytes, settings_.waiting.misses_at_once), Category::software);
  }
}

void Process::attach(SimThread& self, SyncObject& sync, Request& request, Duration price) const {
  if (request.sync != nullptr) {
    throw std::logic_error(name() + ": a request is waited for by two");
  }
  self.owe(price, Category::software); // by compare-and-swap
  request.sync = &sync;
  add_targets(sync, request);
}

/// Where to look for what completes the request, if that depends on the request.
void Process::add_targets(SyncObject& sync, const Request& request) const {
  if (mapping_.decides()) {
    sync.targets.reserve(instances_.size()); // whoever waits may be going through them: they must stay where they are
  }
  const bool anywhere = request.instance == every_instance;
  for (int target = anywhere ? 0 : request.instance; mapping_.decides() && target < targets(); ++target) {
    if (std::find(sync.targets.begin(), sync.targets.end(), target) == sync.targets.end()) {
      sync.targets.push_back(target);
    }
    if (!anywhere) {
      return;
    }
  }
}

/// The application has learnt that the request is complete.
void Process::release(SimThread& self, Request* request, Handle handle) {
  self.owe(settings_.software.wait_request, Category::software);
  fetch_request(self, *request, settings_.library.lines.status, Category::line_transfer);
  if (request->persistent != Request::Persistent::no) {
    count_reference(self, request->communicator);
    request->active = false;
    request->sync = nullptr;
    request->user_sync = nullptr;
    return;
  }
  Lock* const guard = handle == Handle::given ? progress_->request_lock() : nullptr;
  if (guard != nullptr) {
    guard->lock(self);
  }
  count_reference(self, request->communicator);
  free_request(self, request);
  if (guard != nullptr) {
    guard->unlock(self);
  }
}

/// Reads the state of the requests in order, up to one that is complete, or not, as `until` says; a look at a request
/// that is in the core's cache costs `check`. Returns how many of those that were looked at are complete.
int Process::look_at_all(SimThread& self, std::span<Request* const> requests, LookUntil until, Duration check) {
  QueueWalk walk(host_, check, self.core());
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
  self.owe(walk.price(static_cast<std::int64_t>(requests.size()) * settings_.waiting.request_bytes,
                      settings_.waiting.misses_at_once),
           Category::software);
  self.settle();
  return complete;
}

/// Returns when at least one request is complete; false: none counts.
bool Process::wait_for_one(SimThread& self, std::span<Request* const> requests, bool stop_at_first) {
  if (std::none_of(requests.begin(), requests.end(), counts)) {
    self.owe(settings_.waiting.check * static_cast<std::int64_t>(requests.size()), Category::software);
    return false;
  }
  SyncObject& sync = sync_of(self);
  sync.pending = 1;
  sync.targets.clear();
  notification_->begin(self, sync, static_cast<int>(requests.size()));
  const std::string& attaches = settings_.library.waiting.attach;
  const bool every = attaches == "every";
  const bool swaps = attaches != "none"; // without, the sync object only says what the thread waits for
  const Duration swap = host_.cache().atomic_hit;
  const Duration to_attach = every ? swap : swaps ? settings_.software.wait_request : Duration{};
  const Duration to_detach = every ? swap : swaps ? settings_.waiting.detach : Duration{};
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
        self.owe(swap, Category::software); // which fails
      }
      if (stop_at_first) {
        break;
      }
    } else {
      attach(self, sync, *request, to_attach);
      attached.push_back(request);
    }
  }
  self.settle();
  if (!complete) {
    leave_call(self);
    Poller& poller = poller_of(self);
    poller.keeps_core = settings_.library.waiting.yields == "waits-for-all";
    progress_->wait(self, sync);
    poller.keeps_core = false;
    stop(self);
    enter_call(self);
  }
  int completions = 0;
  for (Request* request : attached) {
    self.owe(to_detach, Category::software);
    completions += request->complete ? 1 : 0;
    request->sync = nullptr;
  }
  self.settle();
  while (sync.pending > 1 - completions) { // they are on their way to the counter
    self.spend(settings_.locks.pause, Category::poll_idle);
    sync.line.load(self, Category::poll_idle);
  }
  return true;
}

/// Releases up to `most` complete requests, and returns their indices.
std::vector<int> Process::take_complete(SimThread& self, std::span<Request*> requests, std::size_t most) {
  std::vector<int> indices;
  for (std::size_t i = 0; i < requests.size() && indices.size() < most; ++i) {
    Request* const request = requests[i];
    if (!counts(request) || !request->complete) {
      continue;
    }
    indices.push_back(static_cast<int>(i));
    requests[i] = request->persistent == Request::Persistent::no ? nullptr : request;
    release(self, request);
  }
  return indices;
}

/// The calling thread's, with the instances that the requests belong to.
SyncObject& Process::sync_for_test(SimThread& self, std::span<Request* const> requests) {
  SyncObject& sync = sync_of(self);
  sync.targets.clear();
  for (const Request* request : requests) {
    if (counts(request)) {
      add_targets(sync, *request);
    }
  }
  return sync;
}

void Process::test_once(SimThread& self, SyncObject& sync) {
  Poller& poller = poller_of(self);
  poller.testing = true;
  poller.keeps_core = settings_.library.waiting.yields != "every-call";
  progress_->test(self, sync, *this);
  poller.testing = false;
  poller.keeps_core = false;
  stop(self);
}

/// The looks at each that a design has besides those that are for what is complete.
void Process::look_before(SimThread& self, std::span<Request* const> requests) {
  for (int look = 0; look < settings_.library.waiting.looks_before; ++look) {
    look_at_all(self, requests, LookUntil::end);
  }
}

/// Turns of progress before and between looks at the requests, where the design has them: at every n-th. They poll for
/// requests that are not complete, which is nowhere if all are.
void Process::make_progress_between(SimThread& self, std::span<Request* const> requests) {
  const int every = settings_.library.waiting.poll_every;
  const auto pending = [](const Request* request) { return counts(request) && !request->complete; };
  if (every == 0 || std::none_of(requests.begin(), requests.end(), pending)) {
    return;
  }
  SyncObject& sync = sync_for_test(self, requests);
  for (std::size_t turn = 0; turn <= requests.size() / static_cast<std::size_t>(every); ++turn) {
    make_progress(self, sync);
  }
}

/// One turn, by a thread that is in a call and does not wait. A global critical section covers all of that call, the turn as
/// well (MPIR_Test of MPICH), unless turns have a lock of their own, whose holder asks for the section.
void Process::make_progress(SimThread& self, SyncObject& sync) {
  self.settle();
  if (progress_->locks_turns()) {
    leave_call(self);
    test_once(self, sync);
    enter_call(self);
    return;
  }
  Poller& poller = poller_of(self);
  poller.in_section = global_lock_ != nullptr;
  test_once(self, sync);
  poller.in_section = false;
}

int Process::waitany(SimThread& self, std::span<Request*> requests) {
  const TraceScope scope(self, rank_, "MPI_Waitany");
  enter_call(self);
  software(self, settings_.software.wait_call);
  check_handles(self, requests.size());
  std::vector<int> index;
  if (wait_for_one(self, requests, true)) {
    look_at_all(self, requests, LookUntil::complete, look_after_wait());
    index = take_complete(self, requests, 1);
  }
  leave_call(self);
  return index.empty() ? -1 : index.front();
}

std::vector<int> Process::waitsome(SimThread& self, std::span<Request*> requests) {
  const TraceScope scope(self, rank_, "MPI_Waitsome");
  enter_call(self);
  software(self, settings_.software.wait_call);
  check_handles(self, requests.size());
  look_before(self, requests);
  make_progress_between(self, requests);
  std::vector<int> indices;
  if (wait_for_one(self, requests, false)) {
    look_at_all(self, requests, LookUntil::end, look_after_wait());
    indices = take_complete(self, requests, requests.size());
  }
  leave_call(self);
  return indices;
}

bool Process::test(SimThread& self, Request** request) {
  const TraceScope scope(self, rank_, "MPI_Test");
  const std::span<Request*> one(request, 1);
  if (!counts(*request)) {
    return true;
  }
  enter_call(self);
  software(self, settings_.software.wait_call);
  bool complete = look_at_all(self, one, LookUntil::complete) == 1;
  if (!complete) {
    make_progress(self, sync_for_test(self, one));
    complete = look_at_all(self, one, LookUntil::complete) == 1;
  }
  if (complete) {
    take_complete(self, one, 1);
  }
  leave_call(self);
  return complete;
}

int Process::testany(SimThread& self, std::span<Request*> requests) {
  const TraceScope scope(self, rank_, "MPI_Testany");
  const WaitingDesign& design = settings_.library.waiting;
  enter_call(self);
  software(self, settings_.software.wait_call);
  check_handles(self, requests.size());
  const auto finds_one = [&] { return look_at_all(self, requests, LookUntil::complete) > 0; };
  // The first look finds what is complete, too.
  bool found = finds_one();
  for (int look = 0; look < design.looks_before && !found; ++look) {
    found = finds_one();
  }
  if (!found) {
    make_progress(self, sync_for_test(self, requests));
    found = design.looks_again && finds_one();
  }
  const std::vector<int> index = found ? take_complete(self, requests, 1) : std::vector<int>();
  leave_call(self);
  return index.empty() ? -1 : index.front();
}

std::vector<int> Process::testsome(SimThread& self, std::span<Request*> requests) {
  const TraceScope scope(self, rank_, "MPI_Testsome");
  const WaitingDesign& design = settings_.library.waiting;
  enter_call(self);
  software(self, settings_.software.wait_call);
  check_handles(self, requests.size());
  look_before(self, requests);
  bool found = look_at_all(self, requests, LookUntil::end) > 0;
  if (!found) {
    make_progress(self, sync_for_test(self, requests));
    found = design.looks_again && look_at_all(self, requests, LookUntil::end) > 0;
  }
  std::vector<int> indices = found ? take_complete(self, requests, requests.size()) : std::vector<int>();
  leave_call(self);
  return indices;
}

/// Whether all of them are complete, with a turn of progress if not: what MPI_Testall does with a batch.
bool Process::are_complete(SimThread& self, std::span<Request* const> requests) {
  const WaitingDesign& design = settings_.library.waiting;
  const auto active = std::count_if(requests.begin(), requests.end(), counts);
  const auto finds_all = [&] {
    return look_at_all(self, requests, design.stops_at_incomplete ? LookUntil::incomplete : LookUntil::end) == active;
  };
  look_before(self, requests);
  bool all = finds_all();
  if (!all) {
    make_progress(self, sync_for_test(self, requests));
    all = design.looks_again && finds_all();
  }
  if (design.looks_before > 0) {
    look_at_all(self, requests, LookUntil::end);
  }
  return all;
}

bool Process::testall(SimThread& self, std::span<Request*> requests) {
  const TraceScope scope(self, rank_, "MPI_Testall");
  enter_call(self);
  software(self, settings_.software.wait_call);
  check_handles(self, requests.size());
  const auto batch = static_cast<std::size_t>(settings_.library.waiting.batch);
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
  leave_call(self);
  return all;
}

} // namespace contend
