#include "mpi/window.hpp"

#include "core/trace_scope.hpp"
#include "mpi/process.hpp"
#include "mpi/window_path.hpp"

#include <algorithm>

namespace contend {

namespace {

constexpr std::int64_t exclusive_bit = std::int64_t{1} << 62;
// The word at rank 0: holders of lock_all in the upper half, of exclusive locks in the lower.
constexpr std::int64_t one_exclusive = 1;
constexpr std::int64_t one_lock_all = std::int64_t{1} << 32;
constexpr std::int64_t any_exclusive = one_lock_all - 1;
constexpr std::int64_t any_lock_all = exclusive_bit - one_lock_all;

} // namespace

Window::Window(const OneSidedParts& parts, Process& calls, int id, int communicator)
    : process_(parts.process), turns_(parts.turns), calls_(calls), communicator_(communicator),
      name_(process_.name() + "/window " + std::to_string(id)),
      words_line_(process_.engine(), process_.host(), name_ + "/lock words"),
      path_(window_path_registry().at(process_.library().one_sided.path)({parts, communicator, name_, words_line_})) {}

Window::~Window() = default;

void Window::attach(std::vector<Window*> sides) {
  sides_ = std::move(sides);
  held_.resize(sides_.size(), Held::nothing);
  std::vector<WindowPath*> paths;
  paths.reserve(sides_.size());
  for (const Window* side : sides_) {
    paths.push_back(side->path_.get());
  }
  path_->attach(std::move(paths));
}

std::int64_t Window::outstanding(int target) const { return path_->outstanding(target); }

// Operations.

void Window::put(SimThread& self, int target, std::int64_t bytes, RemoteMemory* memory, std::int64_t offset) {
  const TraceScope scope(self, process_.rank(), "MPI_Put");
  ++process_.counters().puts;
  RdmaRequest request;
  request.kind = RdmaRequest::Kind::put;
  request.bytes = bytes;
  request.target = target;
  request.memory = memory;
  request.offset = offset;
  start(self, request);
}

void Window::get(SimThread& self, int target, std::int64_t bytes) {
  const TraceScope scope(self, process_.rank(), "MPI_Get");
  ++process_.counters().gets;
  RdmaRequest request;
  request.kind = RdmaRequest::Kind::get;
  request.bytes = bytes;
  request.target = target;
  start(self, request);
}

void Window::accumulate(SimThread& self, int target, std::int64_t bytes) {
  const TraceScope scope(self, process_.rank(), "MPI_Accumulate");
  ++process_.counters().accumulates;
  read_modify_write(self, target, bytes);
}

void Window::fetch_and_op(SimThread& self, int target, std::int64_t bytes) {
  const TraceScope scope(self, process_.rank(), "MPI_Fetch_and_op");
  ++process_.counters().fetch_and_ops;
  read_modify_write(self, target, bytes);
}

void Window::read_modify_write(SimThread& self, int target, std::int64_t bytes) {
  RdmaRequest request;
  request.bytes = bytes;
  request.target = target;
  if (path_->updates_at_target(bytes)) {
    request.kind = RdmaRequest::Kind::fetch_add;
    start(self, request);
    return;
  }
  constexpr std::int64_t open = 0;
  constexpr std::int64_t taken = 1;
  while (compare_swap(self, target, &Words::accumulate, open, taken) != open) {
    ++process_.counters().window_lock_retries;
  }
  request.kind = RdmaRequest::Kind::get;
  start_and_wait(self, request);
  process_.copy(self, bytes);
  request.kind = RdmaRequest::Kind::put;
  start_and_wait(self, request);
  fetch_add(self, target, &Words::accumulate, -taken);
}

/// Posts the operation; what is local is done at once.
void Window::start(SimThread& self, const RdmaRequest& request) {
  if (request.target == process_.rank()) {
    copy_to_self(self, request);
  } else {
    path_->start(self, request);
  }
}

void Window::start_and_wait(SimThread& self, const RdmaRequest& request) {
  if (request.target == process_.rank()) {
    copy_to_self(self, request);
  } else {
    path_->start_and_wait(self, request);
  }
}

void Window::copy_to_self(SimThread& self, const RdmaRequest& request) const {
  process_.software(self, process_.settings().software.one_sided_call);
  process_.copy(self, request.bytes);
  if (request.memory != nullptr) {
    self.settle();
    request.memory->written(request);
  }
}

// Completion.

void Window::flush(SimThread& self, int target) {
  const TraceScope scope(self, process_.rank(), "MPI_Win_flush");
  flush_targets(self, target);
}

void Window::flush_all(SimThread& self) {
  const TraceScope scope(self, process_.rank(), "MPI_Win_flush_all");
  flush_targets(self, WindowPath::all_targets);
}

void Window::flush_targets(SimThread& self, int target) {
  ++process_.counters().flushes;
  process_.software(self, process_.settings().software.one_sided_synchronize);
  path_->complete(self, target);
}

void Window::flush_local(SimThread& self, int target) {
  const TraceScope scope(self, process_.rank(), "MPI_Win_flush_local");
  ++process_.counters().flushes;
  process_.software(self, process_.settings().software.one_sided_synchronize);
  path_->complete_locally(self, target);
}

// Locks.

/// An atomic on a word of the target: `request` says which, `apply` does it where this process reaches the word itself.
template <typename Apply>
std::int64_t Window::operate(SimThread& self, int target, std::int64_t Words::*word, RdmaRequest request, Apply apply) {
  std::int64_t old = 0;
  request.bytes = sizeof(std::int64_t);
  request.target = target;
  Window& side = *sides_[static_cast<std::size_t>(target)];
  request.word = &(side.words_.*word);
  request.result = &old;
  if (target == process_.rank()) {
    side.words_line_.atomic(self, Category::line_transfer);
    old = *request.word;
    *request.word = apply(old);
  } else {
    start_and_wait(self, request);
  }
  return old;
}

std::int64_t Window::fetch_add(SimThread& self, int target, std::int64_t Words::*word, std::int64_t operand) {
  RdmaRequest request;
  request.kind = RdmaRequest::Kind::fetch_add;
  request.operand = operand;
  return operate(self, target, word, request, [=](std::int64_t old) { return old + operand; });
}

std::int64_t Window::compare_swap(SimThread& self, int target, std::int64_t Words::*word, std::int64_t expected,
                                  std::int64_t desired) {
  RdmaRequest request;
  request.kind = RdmaRequest::Kind::compare_swap;
  request.expected = expected;
  request.operand = desired;
  return operate(self, target, word, request, [=](std::int64_t old) { return old == expected ? desired : old; });
}

/// Adds `mine`; takes it back and tries again while somebody's part is in `conflict`.
void Window::acquire_shared(SimThread& self, int target, std::int64_t Words::*word, std::int64_t mine,
                            std::int64_t conflict) {
  while ((fetch_add(self, target, word, mine) & conflict) != 0) {
    fetch_add(self, target, word, -mine);
    ++process_.counters().window_lock_retries;
    turns_.progress(self, ProgressSource::Noise::always);
  }
}

void Window::lock(SimThread& self, int target, WindowLock kind) {
  const TraceScope scope(self, process_.rank(), "MPI_Win_lock");
  Held& held = held_[static_cast<std::size_t>(target)];
  if (held != Held::nothing || holds_all_) {
    throw InvariantViolation(name_ + ": rank " + std::to_string(target) + " is locked twice by the same process");
  }
  held = kind == WindowLock::shared ? Held::shared : Held::exclusive;
  process_.software(self, process_.settings().software.one_sided_synchronize);
  if (kind == WindowLock::shared) {
    acquire_shared(self, target, &Words::local, 1, exclusive_bit);
    return;
  }
  acquire_shared(self, 0, &Words::global, one_exclusive, any_lock_all);
  while (compare_swap(self, target, &Words::local, 0, exclusive_bit) != 0) {
    ++process_.counters().window_lock_retries;
    turns_.progress(self, ProgressSource::Noise::always);
  }
}

void Window::unlock(SimThread& self, int target) {
  const TraceScope scope(self, process_.rank(), "MPI_Win_unlock");
  Held& held = held_[static_cast<std::size_t>(target)];
  if (held == Held::nothing) {
    throw InvariantViolation(name_ + ": rank " + std::to_string(target) + " is unlocked without a lock");
  }
  process_.software(self, process_.settings().software.one_sided_synchronize);
  path_->complete(self, target);
  if (held == Held::shared) {
    fetch_add(self, target, &Words::local, -1);
  } else {
    fetch_add(self, target, &Words::local, -exclusive_bit);
    fetch_add(self, 0, &Words::global, -one_exclusive);
  }
  held = Held::nothing;
}

void Window::lock_all(SimThread& self) {
  const TraceScope scope(self, process_.rank(), "MPI_Win_lock_all");
  if (holds_all_ || std::any_of(held_.begin(), held_.end(), [](Held held) { return held != Held::nothing; })) {
    throw InvariantViolation(name_ + ": lock_all by a process that holds a lock");
  }
  holds_all_ = true;
  process_.software(self, process_.settings().software.one_sided_synchronize);
  acquire_shared(self, 0, &Words::global, one_lock_all, any_exclusive);
}

void Window::unlock_all(SimThread& self) {
  const TraceScope scope(self, process_.rank(), "MPI_Win_unlock_all");
  if (!holds_all_) {
    throw InvariantViolation(name_ + ": unlock_all without lock_all");
  }
  process_.software(self, process_.settings().software.one_sided_synchronize);
  path_->complete(self, WindowPath::all_targets);
  fetch_add(self, 0, &Words::global, -one_lock_all);
  holds_all_ = false;
}

void Window::fence(SimThread& self) {
  const TraceScope scope(self, process_.rank(), "MPI_Win_fence");
  process_.software(self, process_.settings().software.one_sided_synchronize);
  path_->complete(self, WindowPath::all_targets);
  calls_.barrier(self, communicator_);
}

} // namespace contend
